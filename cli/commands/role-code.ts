import { RawBody } from '../../client/client.ts';
import { command } from '../command.ts';
import { readDocument } from '../documents.ts';
import { misuse } from '../failure.ts';
import { verbatim } from '../output.ts';
import { readInput } from '../terminal.ts';

export const roleExport = command({
  summary: 'all roles of the organization as one document, for keeping in git',
  examples: ['atrium role export --org acme > roles.yaml', 'atrium role export --json > roles.json'],
  async run(session) {
    const format = session.format === 'json' ? 'json' : 'yaml';
    const query = { org: session.org(), format } as const;
    const text = await session.client().call('GET /authz/roles/export', { query });
    return verbatim(String(text).trimEnd());
  },
});

export const roleApply = command({
  summary: 'make the roles of the organization what a document says',
  options: {
    file: { about: 'the document, YAML or JSON; - for the standard input', value: 'FILE', short: 'f', kind: 'file' },
    'dry-run': { about: 'only show what would change' },
    prune: { about: 'delete roles that the document does not name' },
  },
  examples: ['atrium role apply --file roles.yaml --dry-run', 'atrium role apply -f roles.yaml --prune'],
  async run(session, { options }) {
    if (options.file === undefined) throw misuse('--file FILE is missing; - reads from the standard input');
    const { text, type } = await readDocument(readInput(options.file), options.file);
    const body = new RawBody(text, type);
    await session.client().call('PUT /authz/roles/import', { query: { org: session.org() }, body });
    return undefined;
  },
});
