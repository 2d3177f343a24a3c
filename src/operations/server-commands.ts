import { dotEnv, readConfig } from '../base/config.ts';
import { AppError } from '../base/errors.ts';
import type { Instance } from '../instance.ts';
import type { CommandHelp } from './command-help.ts';
import type { CommandRequest, Print } from './command-socket.ts';
import type { Terminal } from './commands/terminal.ts';

export type RunInServer = (instance: Instance, print: Print) => Promise<void>;

export interface ServerCommand {
  readonly help: CommandHelp;
  /** Runs in the process that was started for the command. Returns the exit code; undefined means 0. */
  readonly here?: (args: readonly string[], terminal: Terminal) => Promise<number | undefined> | Promise<void>;
  /**
   * Runs next to the database: in the server if that has the built-in database, else in an instance that is opened for
   * the command. Wrong usage is rejected before anything is opened.
   */
  readonly inServer?: (args: readonly string[], request: CommandRequest) => Promise<RunInServer>;
}

/**
 * Every command on the server's own machine. What a command needs is loaded when it runs: help must not wait for a
 * database driver.
 */
export const SERVER_COMMANDS = {
  serve: {
    help: {
      summary: 'run the server, as npm start does',
      usage: ['serve [--demo]'],
      options: [{ name: '--demo', help: 'make the demo world in an empty store first' }],
      examples: ['atrium serve', 'DATA_DIR=./demo atrium serve --demo'],
    },
  },
  migrate: {
    help: {
      summary: 'bring the database to the schema of this release',
      usage: ['migrate [--dry-run | --status]'],
      options: [
        { name: '--dry-run', help: 'say what would be applied, and apply nothing' },
        { name: '--status', help: 'list what was applied when, and what is pending' },
      ],
      examples: ['atrium migrate --dry-run', 'atrium migrate'],
    },
    here: async (args, terminal) =>
      (await import('./commands/migrate-command.ts')).runMigrate(args, settings(), terminal),
    inServer: async (args) => (await import('./commands/migrate-command.ts')).migrateIn(args),
  },
  doctor: {
    help: {
      summary: 'look for faults of this deployment and say what to do about each; changes nothing',
      usage: ['doctor [--json]'],
      options: [{ name: '--json', help: 'one JSON document for programs' }],
      examples: ['atrium doctor', 'atrium doctor --json'],
    },
    here: async (args, terminal) =>
      (await import('./commands/doctor-command.ts')).runDoctor(args, environment(), terminal),
    inServer: async () => (await import('./commands/doctor-command.ts')).examineIn(),
  },
  backup: {
    help: {
      summary: 'write all that the database holds into one file, while servers run',
      usage: ['backup FILE [--with-keys]'],
      options: [{ name: '--with-keys', help: 'put the root key into the file as well' }],
      examples: ['atrium backup atrium.tar.gz'],
    },
    here: async (args, terminal) =>
      (await import('./commands/backup-command.ts')).runBackup(args, settings(), terminal),
    inServer: async () => (await import('./commands/backup-command.ts')).copyIn(),
  },
  restore: {
    help: {
      summary: 'put a backup in the place of what the database holds; servers must be stopped',
      usage: ['restore FILE [--replace] [--check]'],
      options: [
        { name: '--replace', help: 'give up what the database holds now' },
        { name: '--check', help: 'only look the file through and say what is in it' },
      ],
      examples: ['atrium restore atrium.tar.gz --check', 'atrium restore atrium.tar.gz --replace'],
    },
    here: async (args, terminal) =>
      (await import('./commands/restore-command.ts')).runRestore(args, settings(), terminal),
  },
  'rotate-keys': {
    help: {
      summary: 'new keys for every secret, while servers run',
      usage: ['rotate-keys [--retire-old-root]'],
      options: [{ name: '--retire-old-root', help: 'end a change of the root key that ATRIUM_NEXT_KEY began' }],
      examples: ['atrium rotate-keys'],
    },
    inServer: async (args, request) => (await import('./commands/rotate-keys-command.ts')).rotateKeysIn(args, request),
  },
  bus: {
    help: {
      summary: 'what a NATS server needs',
      subcommands: ['config'],
      usage: ['bus config [--dir FOLDER]'],
      options: [{ name: '--dir', value: 'FOLDER', help: 'where the NATS server keeps its files (./atrium-bus)' }],
      examples: ['atrium bus config --dir /srv/nats > nats.conf'],
    },
    inServer: async (args) => (await import('./commands/bus-command.ts')).busIn(args),
  },
  installer: {
    help: {
      summary: 'installers of marketplaces',
      subcommands: ['create', 'show', 'link', 'revoke'],
      usage: [
        'installer create cloudA|cloudB|cloudC [--days N] [--test]',
        'installer show ID',
        'installer link ID',
        'installer revoke ID',
      ],
      options: [
        { name: '--days', value: 'N', help: 'until when it can be bound' },
        { name: '--test', help: 'an installer for tests' },
      ],
      examples: ['atrium installer create cloudB --days 30'],
    },
    inServer: async (args) => (await import('./commands/marketplace-commands.ts')).installerIn(args),
  },
  marketplace: {
    help: {
      summary: 'deliveries and secrets of the marketplace listener',
      subcommands: ['log', 'secret'],
      usage: [
        'marketplace log [--marketplace cloudB] [--state received|done|refused|dead] [--reason WORD] [--search TEXT] [--limit N] [--json]',
        'marketplace log --strangers',
        'marketplace secret add|retire cloudB|cloudC [SECRET]',
      ],
      options: [
        { name: '--marketplace', value: 'NAME', help: 'of one marketplace alone' },
        { name: '--state', value: 'STATE', help: 'received, done, refused or dead' },
        { name: '--reason', value: 'WORD', help: 'why it was refused' },
        { name: '--search', value: 'TEXT', help: 'that hold this text' },
        { name: '--limit', value: 'N', help: 'so many at most (50)' },
        { name: '--json', help: 'one JSON object a line' },
        { name: '--strangers', help: 'callers who proved nothing, counted by day' },
      ],
      examples: ['atrium marketplace log --state refused'],
    },
    inServer: async (args) => (await import('./commands/marketplace-commands.ts')).marketplaceIn(args),
  },
} as const satisfies Readonly<Record<string, ServerCommand>>;

/** `serve` is the one command that is not run from here: the server itself can run the others. */
export function commandNamed(name: string): ServerCommand {
  if (Object.hasOwn(SERVER_COMMANDS, name)) return SERVER_COMMANDS[name as keyof typeof SERVER_COMMANDS];
  throw new AppError('invalid', `unknown command "${name}": one of ${Object.keys(SERVER_COMMANDS).join(', ')}`);
}

/** Runs the half of a command that needs the instance. */
export async function runInServer(instance: Instance, request: CommandRequest, print: Print): Promise<void> {
  const [name = '', ...args] = request.argv;
  const { inServer } = commandNamed(name);
  if (inServer === undefined) throw new AppError('invalid', `${name} does not run in the server`);
  await (await inServer(args, request))(instance, print);
}

export function environment(): NodeJS.ProcessEnv {
  return { ...dotEnv(), ...process.env };
}

function settings() {
  return readConfig(environment());
}
