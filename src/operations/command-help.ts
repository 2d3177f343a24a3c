/** What help and completion show about a command. The command line contains a generated copy of it. */
export interface CommandHelp {
  readonly summary: string;
  readonly usage: readonly string[];
  readonly subcommands?: readonly string[];
  readonly options: readonly { readonly name: string; readonly value?: string; readonly help: string }[];
  readonly examples: readonly string[];
}

type Commands = Readonly<Record<string, { readonly help: CommandHelp }>>;

export function helpOf(name: string, { summary, usage, options, examples }: CommandHelp): string {
  const width = Math.max(0, ...options.map((option) => optionText(option).length));
  return [
    `atrium ${name}: ${summary}`,
    'Runs on the server’s own machine, with the server’s settings.',
    '',
    ...usage.map((line) => `  atrium ${line}`),
    ...(options.length === 0 ? [] : ['']),
    ...options.map((option) => `  ${optionText(option).padEnd(width)}  ${option.help}`),
    '',
    'examples:',
    ...examples.map((line) => `  ${line}`),
  ].join('\n');
}

export function usageOf(commands: Commands): string {
  const lines = Object.entries(commands).map(([name, { help }]) => `  ${name.padEnd(14)}${help.summary}`);
  return [
    'commands on the server’s own machine:',
    ...lines,
    '',
    'Run "atrium COMMAND --help" for the options and examples of a command.',
    'exit codes: 0 done, 1 rejected or failed, 2 wrong usage, 3 database unreachable',
  ].join('\n');
}

function optionText({ name, value }: { name: string; value?: string }): string {
  return value === undefined ? name : `${name} ${value}`;
}
