import { dotEnv, readConfig } from '../base/config/config.ts';
import { AppError } from '../base/errors.ts';
import type { Instance } from '../instance.ts';
import type { CommandHelp } from './command-help.ts';
import type { CommandRequest, Print, RunInServer } from './command-socket.ts';
import type { Terminal } from './commands/terminal.ts';

export interface ServerCommand {
  readonly help: CommandHelp;
  /** Runs in the process that was started for the command. Returns the exit code; undefined means 0. */
  readonly here?: (args: readonly string[], terminal: Terminal) => Promise<number | undefined> | Promise<void>;
  /** Reads the secret that the command takes, in the process that was started for it. Rejects wrong usage first. */
  readonly secret?: (args: readonly string[]) => Promise<string | undefined>;
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
      summary: 'run the server',
      usage: ['serve [--demo]'],
      options: [{ name: '--demo', help: 'create example data first, if the database is empty' }],
      examples: ['atrium serve', 'DATA_DIR=./demo atrium serve --demo'],
    },
  },
  migrate: {
    help: {
      summary: 'migrate the database to the schema of this release',
      usage: ['migrate [--dry-run | --status]'],
      options: [
        { name: '--dry-run', help: 'list what would be applied, without applying it' },
        { name: '--status', help: 'list applied migrations with their times, and pending ones' },
      ],
      examples: ['atrium migrate --dry-run', 'atrium migrate'],
    },
    here: async (args, terminal) =>
      (await import('./commands/migrate-command.ts')).runMigrate(args, settings(), terminal),
    inServer: async (args) => (await import('./commands/migrate-command.ts')).migrateIn(args),
  },
  doctor: {
    help: {
      summary: 'check this deployment for faults and print how to fix each; changes nothing',
      usage: ['doctor [--json] [--new] [--mail ADDRESS]'],
      options: [
        { name: '--json', help: 'print one JSON document, for programs' },
        { name: '--new', help: 'before the first start: that there is no deployment yet is no fault' },
        { name: '--mail ADDRESS', help: 'also send a test email to this address' },
      ],
      examples: ['atrium doctor', 'atrium doctor --json', 'atrium doctor --mail ann@example.com'],
    },
    here: async (args, terminal) =>
      (await import('./commands/doctor-command.ts')).runDoctor(args, environment(), terminal),
    inServer: async () => (await import('./commands/doctor-command.ts')).examineIn(),
  },
  backup: {
    help: {
      summary: 'write the whole database to one file, while servers run',
      usage: ['backup FILE [--with-keys]'],
      options: [{ name: '--with-keys', help: 'include the root key in the file' }],
      examples: ['atrium backup atrium.tar.gz'],
    },
    here: async (args, terminal) =>
      (await import('./commands/backup-command.ts')).runBackup(args, settings(), terminal),
    inServer: async (args) => (await import('./commands/backup-command.ts')).backUpIn(args),
  },
  restore: {
    help: {
      summary: 'replace the content of the database with a backup; servers must be stopped',
      usage: ['restore FILE [--replace] [--check] [--erased LIST]…'],
      options: [
        { name: '--replace', help: 'overwrite a database that is not empty' },
        { name: '--check', help: 'only check the file and print what it contains' },
        {
          name: '--erased',
          value: 'LIST',
          help: 'also erase these people again: a copy of erasures.ndjson, or an export of the audit log',
        },
      ],
      examples: ['atrium restore atrium.tar.gz --check', 'atrium restore atrium.tar.gz --replace'],
    },
    here: async (args, terminal) =>
      (await import('./commands/restore-command.ts')).runRestore(args, settings(), terminal),
  },
  audit: {
    help: {
      summary: 'move old entries of the audit log into an archive, and back',
      subcommands: ['archive', 'restore'],
      usage: ['audit archive --before DATE --to FILE [--org NAME]…', 'audit restore FILE [--org NAME]…'],
      options: [
        { name: '--before', value: 'DATE', help: 'archive what is older, such as 2026-01-31 or 2026-01-31T12:00:00Z' },
        { name: '--to', value: 'FILE', help: 'the archive, or s3://BUCKET/NAME; an existing one is never overwritten' },
        { name: '--org', value: 'NAME', help: 'only the log of this organization or account; 0 is the deployment' },
      ],
      examples: [
        'atrium audit archive --before 2026-01-01 --to audit-2025.ndjson',
        'atrium audit archive --before 2026-01-01 --to s3://backups/audit-2025.ndjson',
        'atrium audit restore audit-2025.ndjson',
      ],
    },
    inServer: async (args) => (await import('./commands/audit-command.ts')).auditIn(args),
  },
  agent: {
    help: {
      summary: 'run in a cluster, and keep its RoleBindings as Atrium says; atrium kube agent prints the manifest',
      usage: ['agent --server URL --cluster ID --token-file FILE [--cut-off-after TIME]'],
      options: [
        { name: '--server', value: 'URL', help: 'address of Atrium' },
        { name: '--cluster', value: 'ID', help: 'ID of the cluster there' },
        { name: '--token-file', value: 'FILE', help: 'file with the token of its robot, read for each request' },
        { name: '--endpoint', value: 'URL', help: 'where users reach the API server, to be reported' },
        {
          name: '--cut-off-after',
          value: 'TIME',
          help: 'remove the bindings if Atrium is silent for so long; 1h by default',
        },
        { name: '--namespace', value: 'NAME', help: 'where it keeps what it has heard; that of the pod by default' },
        { name: '--kube-server', value: 'URL', help: 'the API server, outside of a pod' },
        { name: '--kube-token-file', value: 'FILE', help: 'the token for it, outside of a pod' },
        { name: '--kube-ca-file', value: 'FILE', help: 'its certificates, outside of a pod' },
      ],
      examples: ['atrium agent --server https://atrium.example.com --cluster 1 --token-file /run/secrets/atrium/token'],
    },
    here: async (args, terminal) =>
      (await import('./commands/agent-command.ts')).runAgentCommand(args, process.env, terminal),
  },
  'rotate-keys': {
    help: {
      summary: 'renew the keys of all secrets, while servers run',
      usage: ['rotate-keys [--retire-old-root] [--webhook-key]'],
      options: [
        { name: '--retire-old-root', help: 'finish a change of the root key that ATRIUM_NEXT_KEY started' },
        { name: '--webhook-key', help: 'also replace the key of signatures v1a; the former one signs for 7 days more' },
      ],
      examples: ['atrium rotate-keys', 'atrium rotate-keys --webhook-key'],
    },
    inServer: async (args, request) => (await import('./commands/rotate-keys-command.ts')).rotateKeysIn(args, request),
  },
  recover: {
    help: {
      summary: 'print a token for a site administrator who cannot sign in any more',
      usage: ['recover USERNAME'],
      options: [],
      examples: ['atrium recover root'],
    },
    inServer: async (args) => (await import('./commands/recover-command.ts')).recoverIn(args),
  },
  'second-factor': {
    help: {
      summary: 'remove the second factors of a user who has lost them, and end their sessions',
      subcommands: ['remove'],
      usage: ['second-factor remove USER'],
      options: [],
      examples: ['atrium second-factor remove ann'],
    },
    inServer: async (args) => (await import('./commands/second-factor-command.ts')).secondFactorIn(args),
  },
  bus: {
    help: {
      summary: 'print the configuration of a NATS server',
      subcommands: ['config'],
      usage: ['bus config [--dir FOLDER] [--server N] [--routes HOST:PORT,…]'],
      options: [
        { name: '--dir', value: 'FOLDER', help: 'folder for the files of NATS; ./atrium-bus by default' },
        { name: '--server', value: 'N', help: 'which server, if BUS_URL names several' },
        {
          name: '--routes',
          value: 'LIST',
          help: 'where each server hears the others; by default, port 6222 of its host',
        },
      ],
      examples: [
        'atrium bus config --dir /srv/nats > nats.conf',
        'atrium bus config --dir /srv/nats --server 2 > nats-2.conf',
      ],
    },
    inServer: async (args) => (await import('./commands/bus-command.ts')).busIn(args),
  },
  openfga: {
    help: {
      summary: 'compare what was published to the OpenFGA server with the database, and publish what is missing',
      subcommands: ['sync'],
      usage: ['openfga sync [--verify]'],
      options: [{ name: '--verify', help: 'also read everything that the OpenFGA server has, and repair it' }],
      examples: ['atrium openfga sync --verify'],
    },
    inServer: async (args) => (await import('./commands/openfga-command.ts')).openFgaIn(args),
  },
  installer: {
    help: {
      summary: 'manage marketplace installers',
      subcommands: ['create', 'show', 'link', 'revoke'],
      usage: [
        'installer create MARKETPLACE [--days N] [--test]',
        'installer show ID',
        'installer link ID',
        'installer revoke ID',
      ],
      options: [
        { name: '--days', value: 'N', help: 'number of days in which it can be bound; 365 by default' },
        { name: '--test', help: 'create an installer for tests' },
      ],
      examples: ['atrium installer create cloudB --days 30'],
    },
    inServer: async (args) => (await import('./commands/marketplace-commands.ts')).installerIn(args),
  },
  marketplace: {
    help: {
      summary: 'list deliveries and manage secrets of the marketplace listener',
      subcommands: ['log', 'secret'],
      usage: [
        'marketplace log [--marketplace NAME] [--state STATE] [--reason WORD] [--search TEXT] [--limit N] [--json]',
        'marketplace log --strangers',
        'marketplace secret add MARKETPLACE [--secret-stdin | --secret-file FILE]',
        'marketplace secret retire MARKETPLACE [--secret-stdin | --secret-file FILE]',
      ],
      options: [
        { name: '--marketplace', value: 'NAME', help: 'only deliveries of this marketplace' },
        { name: '--state', value: 'STATE', help: 'only this state: received, done, refused or dead' },
        { name: '--reason', value: 'WORD', help: 'only deliveries with this reason' },
        { name: '--search', value: 'TEXT', help: 'only deliveries that contain this text' },
        { name: '--limit', value: 'N', help: 'maximum number of lines; 50 by default' },
        { name: '--json', help: 'print one JSON object per line' },
        { name: '--secret-stdin', help: 'read the secret from standard input' },
        {
          name: '--secret-file',
          value: 'FILE',
          help: 'read the secret from a file; by default add creates one, and retire asks',
        },
        { name: '--strangers', help: 'list callers that failed to authenticate, counted by day' },
      ],
      examples: [
        'atrium marketplace log --state refused',
        'atrium marketplace secret add cloudB',
        'atrium marketplace secret retire cloudB --secret-stdin < secret.txt',
      ],
    },
    secret: async (args) => (await import('./commands/marketplace-commands.ts')).marketplaceSecret(args),
    inServer: async (args, request) =>
      (await import('./commands/marketplace-commands.ts')).marketplaceIn(args, request),
  },
} as const satisfies Readonly<Record<string, ServerCommand>>;

/** `serve` is the one command that is not run from here: the server itself can run the others. */
export function commandNamed(name: string): ServerCommand {
  if (Object.hasOwn(SERVER_COMMANDS, name)) return SERVER_COMMANDS[name as keyof typeof SERVER_COMMANDS];
  throw new AppError('invalid', `unknown command "${name}"; use one of ${Object.keys(SERVER_COMMANDS).join(', ')}`);
}

/** Runs the half of a command that needs the instance. */
export async function runInServer(instance: Instance, request: CommandRequest, print: Print): Promise<void> {
  const [name = '', ...args] = request.argv;
  const { inServer } = commandNamed(name);
  if (inServer === undefined) throw new AppError('invalid', `${name} cannot run in the server`);
  await (await inServer(args, request))(instance, print);
}

export function environment(): NodeJS.ProcessEnv {
  return { ...dotEnv(), ...process.env };
}

function settings() {
  return readConfig(environment());
}
