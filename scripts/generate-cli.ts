import { GLOBAL } from '../cli/arguments.ts';
import { CATALOGUE, type Entry, HEADINGS } from '../cli/catalogue.ts';
import { type Command, isGroup, isOnServer, type Node, type ServerCommand } from '../cli/command.ts';
import { argumentRows, capital, optionRows, usageOf } from '../cli/help.ts';
import { SERVER_COMMANDS } from '../src/operations/server-commands.ts';

/** The generated files of the command line, from the authorization model and from its own declarations. */
export async function cliFiles(model: string): Promise<Record<string, string>> {
  return {
    'cli/relations.gen.ts': relations(model),
    'cli/server-commands.gen.ts': onServerFile(),
    'docs/cli.md': await page(),
  };
}

function onServerFile(): string {
  const commands = Object.entries(SERVER_COMMANDS).map(([name, { help }]) => ({ name, ...help }));
  return `// Made by \`npm run generate\` from src/operations/server-commands.ts.
import type { ServerCommandText } from './command.ts';

/** The commands on the server's own machine, for help and completion. */
export const SERVER_COMMANDS: readonly ServerCommandText[] = ${JSON.stringify(commands, null, 2)};
`;
}

function relations(model: string): string {
  const types = model.split(/^type /m).slice(1);
  const rows = types.flatMap((text) => {
    const [name = ''] = text.split(/\s/, 1);
    const found = [...text.matchAll(/^\s*define (can_\w+):/gm)].map(([, relation]) => `'${relation}'`);
    return found.length === 0 ? [] : [`  ${name}: [${found.join(', ')}],`];
  });
  return `// Made by \`npm run generate\` from src/authz/platform.fga.

/** What can be asked of each type of object: for completion, and to guess what a mistyped word was meant to be. */
export const RELATIONS: Readonly<Record<string, readonly string[]>> = {\n${rows.join('\n')}\n};\n`;
}

async function page(): Promise<string> {
  const sections = await Promise.all(
    Object.entries(HEADINGS).map(async ([heading, title]) => {
      const entries = Object.entries(CATALOGUE).filter(([, entry]) => entry.heading === heading);
      const parts = await Promise.all(entries.map(([name, entry]) => describe(name, entry)));
      return `## ${title}\n\n${SERVER_NOTE[heading] ?? ''}${parts.join('\n')}`;
    }),
  );
  return `<!-- Made by \`npm run generate\` from cli/. -->

${INTRODUCTION}
Options that every command takes:

${table(optionRows(GLOBAL))}
${sections.join('\n')}`;
}

const SERVER_NOTE: Readonly<Record<string, string>> = {
  server:
    'These need the settings, the database and the keys of the server, so they run where it runs, with the same environment and folder.\n\n',
};

const INTRODUCTION = `# The command line

\`atrium\` talks to a server over HTTP. In a clone it is \`npm run atrium -- COMMAND\`, or without npm \`bin/atrium.mjs COMMAND\`; a link to that file in a folder
of the \`PATH\` makes it \`atrium\`.

| what | how |
|---|---|
| sign in | \`atrium login URL\` asks for an access token, or for a name and password; \`--token-stdin\` and \`--password-stdin\` are for scripts. Neither is ever an argument. |
| without signing in | \`ATRIUM_URL\`, \`ATRIUM_TOKEN\`, \`ATRIUM_ORG\` in the environment |
| several servers | each sign-in is a context: \`atrium context list\`, \`atrium context use NAME\`, \`--context NAME\` or \`ATRIUM_CONTEXT\` for one command |
| where it is kept | \`$XDG_CONFIG_HOME/atrium/config.json\`, else \`~/.config/atrium/config.json\` (Windows: \`%APPDATA%\\atrium\`), readable by you alone; the program refuses a file that others can read |
| for scripts | \`--json\` or \`--yaml\`, with every ID exact; no colours and nothing cut off outside a terminal; \`NO_COLOR\` |
| exit codes | 0 done, or yes; 1 refused, or no; 2 typed wrongly; 3 the server cannot be reached |
| what cannot be undone | is asked about on a terminal; elsewhere it needs \`--yes\` |
| names and IDs | where a name is wanted, digits alone are taken for an ID |
| completion | \`source <(atrium completion bash)\`; also for zsh and fish |

`;

async function describe(name: string, entry: Entry): Promise<string> {
  const node = await entry.load();
  return describeNode([name], node);
}

function describeNode(path: readonly string[], node: Node): string {
  if (isOnServer(node)) return onServer(path, node);
  if (!isGroup(node)) return describeCommand(path, node);
  const parts = Object.entries(node.commands).map(([name, inner]) => describeNode([...path, name], inner));
  return path.length > 1
    ? parts.join('\n')
    : `### atrium ${path.join(' ')}\n\n${capital(node.summary)}.\n\n${parts.join('\n')}`;
}

function onServer(path: readonly string[], { summary, usage, options = [], examples = [] }: ServerCommand): string {
  const rows = options.map(({ name, value, help }) => [value ? `${name} ${value}` : name, help] as const);
  return [
    `${path.length === 1 ? '###' : '####'} atrium ${path.join(' ')}`,
    '',
    `${capital(summary)}.${path.length === 1 ? '' : " On the server's own machine."}`,
    '',
    '```',
    ...usage.map((line) => `atrium ${line}`),
    ...(examples.length > 0 ? ['', ...examples] : []),
    '```',
    '',
    ...(rows.length > 0 ? [table(rows)] : []),
  ].join('\n');
}

function describeCommand(path: readonly string[], command: Command): string {
  const { summary, details, args = {}, options = {}, examples } = command;
  const rows = [...argumentRows(args), ...optionRows(options)];
  return [
    `${path.length === 1 ? '###' : '####'} atrium ${path.join(' ')}`,
    '',
    `${capital(summary)}.${details ? ` ${details}` : ''}`,
    '',
    '```',
    usageOf(path, command),
    '',
    ...examples,
    '```',
    '',
    ...(rows.length > 0 ? [table(rows)] : []),
  ].join('\n');
}

function table(rows: readonly (readonly [string, string])[]): string {
  const cell = (text: string) => text.replaceAll('|', '\\|');
  return `| | |\n|---|---|\n${rows.map(([name, about]) => `| \`${cell(name)}\` | ${cell(about)} |`).join('\n')}\n`;
}
