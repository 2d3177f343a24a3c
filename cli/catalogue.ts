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
  access: 'Who may do what',
  things: 'Organizations and what they own',
  own: 'Your own account',
  site: 'For site administrators',
  server: "On the server's own machine",
  program: 'This program',
} as const;
export type Heading = keyof typeof HEADINGS;

const entry = (heading: Heading, about: string, load: () => Promise<Node>): Entry => ({ heading, about, load });

/**
 * Commands that the server's own program runs, with the server's own settings. Its marketplace commands are in our
 * marketplace group.
 */
const onServer = SERVER_COMMANDS.filter(({ name }) => name !== 'marketplace').map(
  ({ name, ...text }) => [name, entry('server', text.summary, async () => ({ ...text, onServer: true }))] as const,
);

export const CATALOGUE: Readonly<Record<string, Entry>> = {
  login: entry('start', 'sign in to a server and remember it', async () => (await import('./commands/login.ts')).login),
  logout: entry('start', 'forget a server and its token', async () => (await import('./commands/logout.ts')).logout),
  whoami: entry('start', 'who you are, and where', async () => (await import('./commands/whoami.ts')).whoami),
  context: entry(
    'start',
    'servers and accounts that you use',
    async () => (await import('./commands/context.ts')).context,
  ),
  can: entry('access', 'may somebody do something, and why', async () => (await import('./commands/can.ts')).can),
  'who-can': entry(
    'access',
    'everybody who may do something',
    async () => (await import('./commands/who-can.ts')).whoCan,
  ),
  role: entry('access', 'custom roles, also as code', async () => (await import('./commands/role.ts')).role),
  audit: entry('access', 'who changed what', async () => (await import('./commands/audit.ts')).audit),
  org: entry('things', 'organizations and their members', async () => (await import('./commands/org.ts')).org),
  team: entry('things', 'teams, who is in them, their roles', async () => (await import('./commands/team.ts')).team),
  cluster: entry('things', 'clusters', async () => (await import('./commands/cluster.ts')).cluster),
  contract: entry('things', 'billing contracts', async () => (await import('./commands/contract.ts')).contract),
  robot: entry('things', 'robot accounts and their tokens', async () => (await import('./commands/robot.ts')).robot),
  credential: entry('own', 'your cloud credentials', async () => (await import('./commands/credential.ts')).credential),
  token: entry('own', 'your access tokens', async () => (await import('./commands/token.ts')).token),
  email: entry('own', 'your addresses', async () => (await import('./commands/email.ts')).email),
  follow: entry('own', 'whom you follow', async () => (await import('./commands/follow.ts')).follow),
  user: entry('site', 'people', async () => (await import('./commands/user.ts')).user),
  marketplace: entry(
    'site',
    'marketplace deliveries',
    async () => (await import('./commands/marketplace.ts')).marketplace,
  ),
  ...Object.fromEntries(onServer),
  completion: entry(
    'program',
    'completion for bash, zsh and fish',
    async () => (await import('./commands/completion.ts')).completion,
  ),
  version: entry(
    'program',
    'versions of this program and of the server',
    async () => (await import('./commands/version.ts')).version,
  ),
};
