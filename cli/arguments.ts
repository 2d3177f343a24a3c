import type { NamedWord } from '../client/object-kinds.ts';

/** What can complete a word: a fixed list, files, or the names of resources on the server. */
export type Kind =
  | NamedWord
  | ('file' | 'context' | 'org' | 'user' | 'object' | 'relation' | 'credential' | 'command')
  | ('principal' | 'place');

export interface Arg {
  readonly about: string;
  readonly optional?: boolean;
  /** Takes all remaining words: at least one, unless optional. */
  readonly many?: boolean;
  readonly kind?: Kind;
  readonly choices?: readonly string[];
}

export interface Option {
  readonly about: string;
  /** The name of the value in the help. Without it, the option is a switch. */
  readonly value?: string;
  readonly short?: string;
  /** May be given more than once. */
  readonly many?: boolean;
  readonly kind?: Kind;
  readonly choices?: readonly string[];
  /** What else to say about a value that is not one of the choices. */
  readonly advice?: (value: string) => string;
  /** With --NAME alone it is a switch; a value is attached with =, or follows if it cannot be an argument. */
  readonly optionalValue?: boolean;
}

export type Args = Readonly<Record<string, Arg>>;
export type Options = Readonly<Record<string, Option>>;

/** If there are choices, the type is their union. */
type Word<T> = T extends { choices: readonly (infer Choice extends string)[] } ? Choice : string;
type ArgValue<A extends Arg> = A extends { many: true }
  ? readonly Word<A>[]
  : A extends { optional: true }
    ? Word<A> | undefined
    : Word<A>;
type OptionValue<O extends Option> = O extends { value: string }
  ? O extends { many: true }
    ? readonly Word<O>[]
    : Word<O> | undefined
  : boolean;

export interface Values<A extends Args, O extends Options> {
  readonly args: { readonly [K in keyof A]: ArgValue<A[K]> };
  readonly options: { readonly [K in keyof O]: OptionValue<O[K]> };
}

/** What is printed, but not by choosing it, or not by every command. */
const OTHER_FORMATS: Readonly<Record<string, string>> = {
  csv: '; this command does not print CSV, others such as atrium matrix do',
  table: '; leave it out for a table',
  text: '; leave it out for text',
};

/** Options that every command accepts. */
export const GLOBAL = {
  org: { about: 'organization; by default ATRIUM_ORG or that of the context', value: 'NAME', kind: 'org' },
  context: { about: 'server and account to use; see atrium context', value: 'NAME', short: 'c', kind: 'context' },
  output: {
    about: 'what to print; wide cuts nothing off, name prints only names',
    value: 'FORMAT',
    short: 'o',
    choices: ['json', 'yaml', 'wide', 'name'],
    advice: (value) => OTHER_FORMATS[value] ?? '',
  },
  json: {
    about: 'print the result as JSON, or only these fields, separated by commas',
    value: 'FIELDS',
    optionalValue: true,
  },
  yaml: { about: 'print the result as YAML' },
  yes: { about: 'do not ask for confirmation', short: 'y' },
  debug: { about: 'print every request and its response to standard error, without secrets' },
  timeout: { about: 'how long to wait for a response, 30 by default', value: 'SECONDS' },
  help: { about: 'show the help of this command', short: 'h' },
} as const satisfies Options;

/** Options of the commands whose result changes over time. */
export const WATCHING = {
  watch: { about: 'print the result, then each change of it, until Ctrl-C', short: 'w' },
  interval: { about: 'with --watch: how often to look, every 5 seconds by default', value: 'SECONDS' },
} as const satisfies Options;

/** The output of the commands that can also print a table for spreadsheets. */
export const WITH_CSV = {
  output: {
    ...GLOBAL.output,
    about: `${GLOBAL.output.about}, csv is for spreadsheets`,
    choices: [...GLOBAL.output.choices, 'csv'],
  },
} as const satisfies Options;

export type GlobalValues = Values<Record<never, Arg>, typeof GLOBAL & typeof WATCHING>['options'];
