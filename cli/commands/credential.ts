import { RawBody } from '../../client/client.ts';
import { command, type Group } from '../command.ts';
import { readDocument, toJson } from '../documents.ts';
import { misuse } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { list, one, said } from '../output.ts';
import { confirm, readInput } from '../terminal.ts';

const name = { about: 'name of the credential', kind: 'credential' } as const;
const file = {
  about: 'file with the credential as JSON or YAML; - for standard input',
  value: 'FILE',
  short: 'f',
  kind: 'file',
} as const;

/** Every number reaches the server exactly as written, because some clouds have keys that are long numbers. */
async function specIn(path: string | undefined): Promise<{ readonly text: string; readonly name: string }> {
  if (path === undefined) throw misuse('missing option --file FILE; use - for standard input');
  const text = await toJson(await readDocument(await readInput(path), path));
  const spec = JSON.parse(text) as { name?: unknown } | null;
  if (typeof spec !== 'object' || spec === null || typeof spec.name !== 'string') {
    throw misuse('a credential must be an object with a name, a type and the fields of its cloud');
  }
  return { text, name: spec.name };
}

export const credential: Group = {
  summary: 'manage your cloud credentials',
  commands: {
    list: command({
      summary: 'list your cloud credentials, without their secrets',
      options: { type: { about: 'only credentials of this type, such as Aws', value: 'TYPE', many: true } },
      examples: ['atrium credential list', 'atrium credential list --type Aws --type Azure'],
      watch: {},
      async run(session, { options }) {
        const query = { credential_type: options.type, summary: 'true' } as const;
        const found = await session.client().call('GET /user/credentials', { query });
        const rows = found.map(({ name: called, type, creationTimestamp }) => ({
          name: called,
          type,
          creationTimestamp,
        }));
        return list(
          rows,
          {
            name: (row) => row.name,
            type: (row) => String(row.type ?? ''),
            created: (row) => shortTime(row.creationTimestamp),
          },
          'none',
        );
      },
    }),
    show: command({
      summary: 'show a credential; with --json or --yaml, also its secrets',
      args: { name },
      examples: ['atrium credential show ann-aws', 'atrium credential show ann-aws --json'],
      async run(session, { args }) {
        const path = { credName: args.name };
        const found = await session.client().call('GET /user/credentials/{credName}', { path });
        return one(found, {
          name: (row) => row.name,
          type: (row) => String(row.type ?? ''),
          created: (row) => shortTime(row.creationTimestamp),
          fields: (row) => Object.keys(row).filter((key) => !['name', 'type', 'creationTimestamp'].includes(key)),
        });
      },
    }),
    add: command({
      summary: 'add a credential; with --replace, replace the one of the same name',
      options: { file, replace: { about: 'replace the credential of the same name' } },
      examples: ['atrium credential add --file aws.yaml', 'atrium credential add --file - --replace < aws.json'],
      async run(session, { options }) {
        const spec = await specIn(options.file);
        const body = new RawBody(spec.text);
        if (options.replace) await session.client().call('PUT /user/credentials', { body });
        else await session.client().call('POST /user/credentials', { body });
        return said(`${options.replace ? 'replaced' : 'added'} ${spec.name}`);
      },
    }),
    delete: command({
      summary: 'delete a credential',
      args: { name },
      examples: ['atrium credential delete ann-aws --yes'],
      async run(session, { args }) {
        await confirm(session, `Delete the credential ${args.name}?`);
        await session.client().call('DELETE /user/credentials/{credName}', { path: { credName: args.name } });
        return said(`deleted ${args.name}`);
      },
    }),
  },
};
