import { refusal } from '../../client/wire.ts';
import { command } from '../command.ts';
import { Failure, misuse } from '../failure.ts';
import { readInput } from '../terminal.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** Paths that are not below /api/v1. */
const ELSEWHERE = /^\/(api\/v1|marketplace\/api\/v1|links|avatars|\.well-known)(\/|\?|$)/;

export const api = command({
  summary: 'send a request to the server, and print the response as it is',
  details:
    'PATH is one of the paths at /api/v1/docs; /api/v1 can be left out. The request carries your token, so it goes to ' +
    'the server that you are signed in to and nowhere else. Exits with 1 if the server rejects it.',
  args: {
    method: { about: 'GET, HEAD, POST, PUT, PATCH or DELETE; can be left out for GET' },
    path: { about: 'path and query, such as /user/teams?limit=5', optional: true },
  },
  options: {
    input: { about: 'file with the body, JSON; - for standard input', value: 'FILE', kind: 'file' },
    header: { about: 'further header, such as "Accept: application/yaml"', value: 'LINE', many: true },
    include: { about: 'print the status and the headers first', short: 'i' },
  },
  examples: [
    'atrium api /user',
    'atrium api GET "/orgs/acme/clusters?phase=Lost"',
    'atrium api POST /orgs/acme/teams --input team.json',
    'atrium api "/authz/roles/export?org=acme" --header "Accept: application/yaml"',
  ],
  async run(session, { args, options }) {
    const [method, path] = args.path === undefined ? ['GET', args.method] : [args.method.toUpperCase(), args.path];
    if (!METHODS.includes(method))
      throw misuse(`unknown method ${JSON.stringify(method.slice(0, 20))}; use one of ${METHODS.join(', ')}`);
    if (!/^\/[!-~]*$/.test(path) || path.startsWith('//')) {
      throw misuse(
        'PATH must start with one slash and be encoded as in a URL, such as /user; the server is that of your context',
      );
    }
    const body = options.input === undefined ? undefined : await readInput(options.input);
    const headers = { Accept: '*/*', ...(body !== undefined && { 'Content-Type': 'application/json' }) };
    const whole = ELSEWHERE.test(path) ? path : `/api/v1${path}`;
    const answer = await session.raw(method, whole, { ...headers, ...readHeaders(options.header) }, body);
    if (options.include) {
      session.screen.writeDocument(`HTTP ${answer.status}`);
      for (const name of SHOWN_HEADERS) {
        const value = answer.headers.get(name);
        if (value !== null) session.screen.writeDocument(`${name}: ${value}`);
      }
      session.screen.writeDocument('');
    }
    if (answer.text !== '') session.screen.writeDocument(answer.text.replace(/\n$/, ''));
    if (answer.status >= 400) {
      const isAway = answer.status >= 502 && answer.status <= 504;
      throw new Failure(
        isAway ? 'unreachable' : 'rejected',
        `${refusal(answer, answer.text).message} (${answer.status})`,
      );
    }
    return undefined;
  },
});

const SHOWN_HEADERS = [
  'content-type',
  'etag',
  'link',
  'location',
  'ratelimit',
  'retry-after',
  'x-request-id',
  'x-total-count',
];

function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = /^([\w-]+): *([\x20-\x7e]*)$/.exec(line) ?? [];
      if (name === '') throw misuse('--header needs a name, a colon and a value, such as "Accept: application/yaml"');
      if (/^(authorization|cookie)$/i.test(name)) {
        throw misuse(
          `${name} cannot be given with --header: a secret is not an argument; use --context or ATRIUM_TOKEN`,
        );
      }
      return [name, value];
    }),
  );
}
