import { readFileSync } from 'node:fs';

/** What help and completion tell about a command. The launcher of the command line reads the same file. */
export interface CommandDescription {
  readonly name: string;
  readonly summary: string;
  readonly usage: readonly string[];
  readonly subcommands?: readonly string[];
  readonly options: readonly { readonly name: string; readonly value?: string; readonly help: string }[];
  readonly examples: readonly string[];
}

export const SERVER_COMMANDS = JSON.parse(
  readFileSync(new URL('./server-commands.json', import.meta.url), 'utf8'),
) as readonly CommandDescription[];

export function helpOf(name: string): string | undefined {
  const found = SERVER_COMMANDS.find((command) => command.name === name);
  if (!found) return undefined;
  const width = Math.max(0, ...found.options.map((option) => optionText(option).length));
  return [
    `atrium ${found.name}: ${found.summary}`,
    'Runs on the server’s own machine, with the server’s own settings.',
    '',
    ...found.usage.map((line) => `  atrium ${line}`),
    ...(found.options.length === 0 ? [] : ['']),
    ...found.options.map((option) => `  ${optionText(option).padEnd(width)}  ${option.help}`),
    '',
    'examples:',
    ...found.examples.map((line) => `  ${line}`),
  ].join('\n');
}

export function usage(): string {
  const lines = SERVER_COMMANDS.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`);
  return [
    'commands on the server’s own machine:',
    ...lines,
    '',
    '"atrium COMMAND --help" shows the options and examples of one.',
    'exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 the database cannot be reached',
  ].join('\n');
}

export function unknownCommand(name: string): string {
  return `unknown command "${name}": one of ${SERVER_COMMANDS.map((command) => command.name).join(', ')}`;
}

function optionText({ name, value }: { name: string; value?: string }): string {
  return value === undefined ? name : `${name} ${value}`;
}
