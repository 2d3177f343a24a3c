/** One file of the archive. */
export interface DataFile {
  readonly name: string;
  readonly content: string;
}

/** The answer to one of the person's own requests. */
export interface OwnAnswer {
  readonly status: number;
  /** The path of the next page, if there is one. */
  readonly next: string | undefined;
  /** Of a log: before which moment its entries are archived. */
  readonly archivedBefore?: string | undefined;
  /** Read as it is needed. */
  readonly text: AsyncIterable<string>;
}

/** Sends a request of the person, with the credential that they use at this moment. */
export type Ask = (path: string) => Promise<OwnAnswer>;

const OK = 200;
const PAGE = 50;
const MAX_PAGES = 10_000;
/** A log of any length is split into files of this size, so that no more of it is ever in memory. */
const PART = 4 * 1024 * 1024;

/** Each is a file with the name of what is behind `/user/`. */
const LISTS = [
  '/user/emails',
  '/user/orgs',
  '/user/teams',
  '/user/requests',
  '/user/sessions',
  '/user/factors',
  '/user/linked_accounts',
  '/user/credentials',
  '/user/clusters',
  '/user/deploy/orders',
  '/user/following',
  '/user/followers',
];
const ORGANIZATIONS = '/user/orgs';

const ABOUT = `Everything that Atrium stores about your account, as far as you may see it.

profile.json and the other lists are what the API answers. access/ has what you hold in each organization, and why.
audit.ndjson is the log of your account. audit/ has what you did in organizations whose log you may read.
What is archived of these logs is not in here: archived.txt says before when, if anything is.
Secrets are not in here: neither the texts of tokens and credentials, nor second factors.
`;

const ARCHIVED = `Entries of these logs are archived outside of Atrium. Ask the operators of this deployment for them.
`;

/**
 * A person's own data: what the lists of the API answer to them, so that it never tells more than they may see. The files
 * are made one after the other.
 */
export async function* collectMyData(login: string, id: bigint, ask: Ask): AsyncGenerator<DataFile> {
  yield { name: 'README.txt', content: ABOUT };
  let organizations: string[] = [];
  const tokens = `/users/${encodeURIComponent(login)}/tokens`;
  for (const path of ['/user', ...LISTS, tokens]) {
    const content = await wholeList(path, ask);
    if (content === undefined) continue;
    if (path === ORGANIZATIONS) organizations = namesIn(content);
    yield { name: `${path === tokens ? 'tokens' : nameOf(path)}.json`, content };
  }
  for (const org of organizations) {
    const held = await wholeList(
      `/authz/users/${encodeURIComponent(login)}/access?org=${encodeURIComponent(org)}`,
      ask,
    );
    if (held !== undefined) yield { name: `access/${org}.json`, content: held };
  }
  const archived: string[] = [];
  yield* log('audit', '/user/audit/export', ask, archived);
  for (const org of organizations) {
    yield* log(`audit/${org}`, `/orgs/${encodeURIComponent(org)}/audit/export?actor=${id}`, ask, archived);
  }
  if (archived.length > 0) yield { name: 'archived.txt', content: `${ARCHIVED}\n${archived.join('')}` };
}

function nameOf(path: string): string {
  return path === '/user' ? 'profile' : path.slice('/user/'.length).replaceAll('/', '-');
}

/** All pages as one JSON text. Undefined if the person may not call it. */
async function wholeList(path: string, ask: Ask): Promise<string | undefined> {
  const separator = path.includes('?') ? '&' : '?';
  const pages: string[] = [];
  let next: string | undefined = `${path}${separator}limit=${PAGE}`;
  while (next !== undefined && pages.length < MAX_PAGES) {
    const answer: OwnAnswer = await ask(next);
    if (answer.status !== OK) return undefined;
    pages.push((await Array.fromAsync(answer.text)).join(''));
    next = answer.next;
  }
  if (pages.length === 1) return `${pages[0]}\n`;
  // Lists of JSON, whose numbers are not touched.
  const inside = pages.map((page) => page.trim().slice(1, -1)).filter((page) => page !== '');
  return `[${inside.join(',')}]\n`;
}

async function* log(name: string, path: string, ask: Ask, archived: string[]): AsyncGenerator<DataFile> {
  const { status, text, archivedBefore } = await ask(path);
  if (status !== OK) return;
  if (archivedBefore !== undefined) archived.push(`${name}.ndjson: before ${archivedBefore}\n`);
  let part = 1;
  let rest = '';
  const fileName = () => (part === 1 ? `${name}.ndjson` : `${name}-${part}.ndjson`);
  for await (const piece of text) {
    rest += piece;
    if (rest.length < PART) continue;
    const end = rest.lastIndexOf('\n') + 1;
    yield { name: fileName(), content: rest.slice(0, end) };
    rest = rest.slice(end);
    part++;
  }
  if (rest !== '' || part === 1) yield { name: fileName(), content: rest };
}

function namesIn(json: string): string[] {
  const list = JSON.parse(json) as { readonly username?: string; readonly name?: string }[];
  return list.flatMap(({ username, name }) => username ?? name ?? []);
}
