import { RawBody } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { command, type Group } from '../command.ts';
import { readDocument, toJson } from '../documents.ts';
import { misuse, rejected } from '../failure.ts';
import { asYaml, type Shown } from '../output.ts';
import { REQUEST, requestLines, requestOf, shownRequest } from '../request-text.ts';
import { confirm, readInput } from '../terminal.ts';
import { plain } from '../text.ts';

const comment = { about: 'what the requester should know', value: 'TEXT' } as const;

export const approve = command({
  summary: 'approve a request: exactly the changes that you have seen',
  details:
    'Shows what would change and asks first. If the changes or their effect become different meanwhile, nothing is ' +
    'approved. In scripts, use --yes to approve what is there now, or --digest with that of atrium request show.',
  args: { request: REQUEST },
  options: { comment, digest: { about: 'approve only what this digest stands for', value: 'DIGEST' } },
  examples: [
    'atrium request approve req_12',
    'atrium request approve req_12 --yes --comment "call me when it is done"',
    'atrium request approve req_12 --digest sha256:… --yes',
  ],
  async run(session, { args, options }): Promise<Shown> {
    const at = { path: { id: args.request }, query: { org: session.org() } };
    const seen = await requestOf(session, args.request);
    if (seen.state === 'open' && !session.assumeYes) {
      for (const line of requestLines(seen, session.screen.style)) session.screen.note(line);
      await confirm(session, `Approve ${seen.id}?`);
    }
    const body = { digest: options.digest ?? seen.digest, comment: options.comment };
    try {
      return shownRequest(await session.client().call('POST /authz/requests/{id}/approve', { ...at, body }));
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'changed_since') throw error;
      throw rejected(`${error.message} (atrium request show ${args.request})`);
    }
  },
});

export const deny = command({
  summary: 'deny a request',
  args: { request: REQUEST },
  options: { comment },
  examples: ['atrium request deny req_12 --comment "use staging"'],
  async run(session, { args, options }) {
    const at = { path: { id: args.request }, query: { org: session.org() } };
    const body = { comment: options.comment };
    return shownRequest(await session.client().call('POST /authz/requests/{id}/deny', { ...at, body }));
  },
});

export const requestRules: Group = {
  summary: 'the rules that say what can be asked for, how long, and who approves it',
  byDefault: 'show',
  commands: {
    show: command({
      summary: 'print the rules, in the order in which they are tried',
      examples: ['atrium request rules', 'atrium request rules --org acme > rules.yaml'],
      async run(session) {
        const path = { org: session.org() };
        const rules = await session.client().call('GET /orgs/{org}/request_rules', { path });
        const text = await asYaml(rules);
        return { data: rules, names: rules.map(({ name }) => name), lay: () => plainLines(text) };
      },
    }),
    apply: command({
      summary: 'replace all rules; for owners',
      details:
        'The first rule that matches counts, and what matches none cannot be asked for. Without rules, defaults hold.',
      options: {
        file: { about: 'the rules, YAML or JSON; - for standard input', value: 'FILE', short: 'f', kind: 'file' },
      },
      examples: ['atrium request rules apply -f rules.yaml'],
      async run(session, { options }) {
        if (options.file === undefined) throw misuse('missing option --file FILE; use - for standard input');
        const document = await readDocument(await readInput(options.file), options.file);
        const path = { org: session.org() };
        await confirm(session, `Replace all request rules of ${path.org}?`);
        const body = new RawBody(await toJson(document), 'application/json');
        const rules = await session.client().call('PUT /orgs/{org}/request_rules', { path, body });
        const count = `${rules.length} ${rules.length === 1 ? 'rule' : 'rules'}`;
        return { data: rules, lay: () => [`${path.org} has ${count} for access requests`] };
      },
    }),
  },
};

function plainLines(text: string): string[] {
  return text.trimEnd().split('\n').map(plain);
}
