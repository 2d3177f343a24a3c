import type { NamedWord } from '../client/object-kinds.ts';
import type { Node } from './command.ts';
import { SERVER_COMMANDS } from './server-commands.gen.ts';

/** The first word of a command: what it is about, and how to load the rest. Only the command that is used is loaded. */
export interface Entry {
  readonly about: string;
  readonly heading: Heading;
  load(): Promise<Node>;
}

export const HEADINGS = {
  start: 'Getting started',
  access: 'Who can do what',
  resources: 'Organizations and their resources',
  own: 'Your account',
  site: 'For site administrators',
  server: "On the server's own machine",
  program: 'This program',
} as const;
export type Heading = keyof typeof HEADINGS;

const entry = (heading: Heading, about: string, load: () => Promise<Node>): Entry => ({ heading, about, load });

/**
 * Commands that the server's own program runs, with the server's own settings. Its marketplace and audit commands are in
 * our groups of these names.
 */
const onServer = SERVER_COMMANDS.filter(({ name }) => name !== 'marketplace' && name !== 'audit').map(
  ({ name, ...text }) => [name, entry('server', text.summary, async () => ({ ...text, onServer: true }))] as const,
);

const COMMANDS = {
  login: entry('start', 'sign in to a server and save it', async () => (await import('./commands/login.ts')).login),
  logout: entry('start', 'sign out of a server', async () => (await import('./commands/logout.ts')).logout),
  whoami: entry('start', 'show your user and server', async () => (await import('./commands/whoami.ts')).whoami),
  context: entry(
    'start',
    'manage the servers and accounts that you use',
    async () => (await import('./commands/context.ts')).context,
  ),
  can: entry(
    'access',
    'check whether a user or a robot can do something, and why',
    async () => (await import('./commands/can.ts')).can,
  ),
  'who-can': entry(
    'access',
    'list the users and robots that can do something',
    async () => (await import('./commands/who-can.ts')).whoCan,
  ),
  'list-objects': entry(
    'access',
    'list what a user or a robot can reach',
    async () => (await import('./commands/list-objects.ts')).listObjects,
  ),
  access: entry(
    'access',
    'show everything that a user or a robot holds, and why',
    async () => (await import('./commands/access.ts')).access,
  ),
  matrix: entry(
    'access',
    'show what people may do with objects, as a table',
    async () => (await import('./commands/matrix.ts')).matrix,
  ),
  role: entry('access', 'manage custom roles, also as code', async () => (await import('./commands/role.ts')).role),
  assignments: entry(
    'access',
    'list who has which role, on what and until when',
    async () => (await import('./commands/assignments.ts')).assignments,
  ),
  request: entry(
    'access',
    'ask for access that you lack, and decide about what other users ask for',
    async () => (await import('./commands/request.ts')).request,
  ),
  webhook: entry(
    'resources',
    'send other systems what changes',
    async () => (await import('./commands/webhook.ts')).webhook,
  ),
  guardrail: entry(
    'access',
    'manage statements about access that must stay true',
    async () => (await import('./commands/guardrail.ts')).guardrail,
  ),
  review: entry(
    'access',
    'review access: keep it or end it, with a record',
    async () => (await import('./commands/review.ts')).review,
  ),
  unused: entry(
    'access',
    'list access that has not been used for some time',
    async () => (await import('./commands/unused.ts')).unused,
  ),
  plan: entry(
    'access',
    'show what a file would change in an organization, and who gains and loses what',
    async () => (await import('./commands/organization-file.ts')).plan,
  ),
  apply: entry(
    'access',
    'make an organization match its file',
    async () => (await import('./commands/organization-file.ts')).apply,
  ),
  drift: entry(
    'access',
    'compare an organization with its file',
    async () => (await import('./commands/organization-file.ts')).drift,
  ),
  export: entry(
    'access',
    'print an organization as one file, or write the file',
    async () => (await import('./commands/organization-file.ts')).exportFile,
  ),
  fmt: entry(
    'access',
    'format the file of an organization',
    async () => (await import('./commands/organization-file.ts')).fmt,
  ),
  test: entry(
    'access',
    'check a file of assertions about who can do what',
    async () => (await import('./commands/test.ts')).test,
  ),
  audit: entry('access', 'show who changed what', async () => (await import('./commands/audit.ts')).audit),
  events: entry('access', 'follow what changes', async () => (await import('./commands/events.ts')).events),
  search: entry(
    'resources',
    'find anything by a part of its name',
    async () => (await import('./commands/search.ts')).search,
  ),
  org: entry(
    'resources',
    'manage organizations and their members',
    async () => (await import('./commands/org.ts')).org,
  ),
  invitation: entry(
    'resources',
    'invite people to an organization by their addresses',
    async () => (await import('./commands/invitation.ts')).invitation,
  ),
  team: entry(
    'resources',
    'manage teams, their members and roles',
    async () => (await import('./commands/team.ts')).team,
  ),
  cluster: entry('resources', 'manage clusters', async () => (await import('./commands/cluster.ts')).cluster),
  kube: entry(
    'resources',
    'reach clusters with kubectl, and let their API servers ask Atrium',
    async () => (await import('./commands/kube.ts')).kube,
  ),
  contract: entry(
    'resources',
    'manage billing contracts',
    async () => (await import('./commands/contract.ts')).contract,
  ),
  robot: entry(
    'resources',
    'manage robot accounts and their tokens',
    async () => (await import('./commands/robot.ts')).robot,
  ),
  credential: entry(
    'own',
    'manage your cloud credentials',
    async () => (await import('./commands/credential.ts')).credential,
  ),
  order: entry('own', 'manage your deploy orders', async () => (await import('./commands/order.ts')).order),
  profile: entry(
    'own',
    'manage your profile and password',
    async () => (await import('./commands/profile.ts')).profile,
  ),
  session: entry('own', 'manage your browser sessions', async () => (await import('./commands/session.ts')).session),
  factor: entry(
    'own',
    'show second factors; they are added in the console',
    async () => (await import('./commands/factor.ts')).factor,
  ),
  'linked-account': entry(
    'own',
    'manage the accounts at providers that you sign in with',
    async () => (await import('./commands/linked-account.ts')).linkedAccount,
  ),
  token: entry('own', 'manage your access tokens', async () => (await import('./commands/token.ts')).token),
  email: entry('own', 'manage your email addresses', async () => (await import('./commands/email.ts')).email),
  follow: entry('own', 'manage the users you follow', async () => (await import('./commands/follow.ts')).follow),
  user: entry('site', 'manage users', async () => (await import('./commands/user.ts')).user),
  provider: entry(
    'site',
    'manage the OpenID Connect providers that people sign in with',
    async () => (await import('./commands/provider.ts')).provider,
  ),
  marketplace: entry(
    'site',
    'inspect deliveries, installers and subscriptions of marketplaces',
    async () => (await import('./commands/marketplace.ts')).marketplace,
  ),
  ...Object.fromEntries(onServer),
  api: entry(
    'program',
    'send a request to the server as you type it',
    async () => (await import('./commands/api.ts')).api,
  ),
  completion: entry(
    'program',
    'print the completion script for bash, zsh or fish',
    async () => (await import('./commands/completion.ts')).completion,
  ),
  version: entry(
    'program',
    'show the versions of this program and of the server',
    async () => (await import('./commands/version.ts')).version,
  ),
} satisfies Readonly<Record<NamedWord, Entry>> & Readonly<Record<string, Entry>>;

/** Every type that has names also has its command. */
export const CATALOGUE: Readonly<Record<string, Entry>> = COMMANDS;
