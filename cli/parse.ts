import { type Args, GLOBAL, type GlobalValues, type Option, type Options, WATCHING } from './arguments.ts';
import { type Command, type Group, globalOptionsOf, isGroup, isOnServer, type Node, optionsOf } from './command.ts';
import { misuse } from './failure.ts';
import { didYouMean } from './suggest.ts';
import { verbHint, verbIn } from './verbs.ts';

export type Read =
  /** The user asked for help: of the program, a group or a command. */
  | { readonly what: 'help'; readonly path: readonly string[]; readonly node?: Node }
  | { readonly what: 'server' }
  | { readonly what: 'run'; readonly path: readonly string[]; readonly command: Command; readonly values: Read.Values };

export declare namespace Read {
  interface Values {
    readonly args: Readonly<Record<string, string | readonly string[] | undefined>>;
    readonly options: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
    readonly global: GlobalValues;
  }
}

type Load = (name: string) => Promise<Node | undefined>;

/** Finds the command that the words name, and parses the rest according to its declaration. */
export async function read(argv: readonly string[], names: readonly string[], load: Load): Promise<Read> {
  const { path, node, rest, leading } = await findNode(argv, names, load);
  // The server's own program gives more detailed help, but only through its own arguments, not through `atrium help`.
  if (node && isOnServer(node)) {
    if (argv[0] === 'help' || leading.some(isHelp)) return { what: 'help', path, node };
    const [option] = leading;
    if (option === undefined) return { what: 'server' };
    throw misuse(`${option} is not for atrium ${path.join(' ')}, which runs on the server's own machine`);
  }
  const wantsHelp = rest.slice(0, endOfOptions(rest)).some(isHelp);
  if (!node || wantsHelp || isGroup(node)) {
    const [word] = rest.filter((one) => !isHelp(one));
    if (!wantsHelp && node && isGroup(node)) throw missingVerb(path, Object.keys(node.commands), word);
    return node ? { what: 'help', path, node } : { what: 'help', path };
  }
  return { what: 'run', path, command: node, values: readValues(node, rest, path) };
}

async function findNode(argv: readonly string[], names: readonly string[], load: Load) {
  const [leading, [first, ...rest]] = leadingOptions(argv);
  if (first === undefined) {
    if (leading.length > 0 && !leading.some(isHelp)) throw misuse('missing command; run atrium --help');
    return { path: [], node: undefined, rest: [], leading };
  }
  if (first === 'help') return await findNode([...rest.filter((word) => word !== '--help'), '--help'], names, load);
  if (first === '--version' || first === '-v') return await findNode(['version', ...rest], names, load);
  if (first.startsWith('-')) throw misuse(`${shown(first)} must come after the command; run atrium --help`);
  let node = await load(first);
  if (!node) throw misuse(`unknown command ${shown(first)}${didYouMean(first, names)}; run atrium --help`);
  const path = [first];
  while (isGroup(node)) {
    const [options, [word = '']] = leadingOptions(rest);
    const verb = verbOf(node, word);
    if (!Object.hasOwn(node.commands, verb)) {
      const usual: Node | undefined = [...leading, ...options].some(isHelp)
        ? undefined
        : defaultIn(node, rest[0] ?? '');
      node = usual ?? node;
      break;
    }
    node = node.commands[verb] as Node;
    path.push(verb);
    leading.push(...options);
    rest.splice(0, options.length + 1);
  }
  return { path, node, rest: [...leading, ...rest], leading };
}

/** The command of a group that a line runs whose next word names none of them, or is an option, or is not there. */
export function defaultIn({ byDefault, otherwise, commands }: Group, word: string): Node | undefined {
  const name = word === '' || word.startsWith('-') ? byDefault : otherwise;
  return name === undefined ? undefined : commands[name];
}

/** The name of the command that a word means. Where any word can follow, such as `view`, only the names themselves are. */
export function verbOf({ commands, otherwise }: Group, word: string): string {
  return otherwise === undefined ? verbIn(commands, word) : word;
}

const EVERYWHERE: ReadonlyMap<string, Option> = new Map(
  Object.entries(GLOBAL as Options).flatMap(([name, option]) =>
    [`--${name}`, ...(option.short ? [`-${option.short}`] : [])].map((word) => [word, option] as const),
  ),
);

/** The options of every command that come before the first other word, and everything from that word on. */
export function leadingOptions(words: readonly string[]): readonly [options: string[], rest: string[]] {
  let end = 0;
  for (;;) {
    const [word = '', attached] = (words[end] ?? '').split(/=(.*)/s);
    const option = EVERYWHERE.get(word);
    if (option === undefined) return [words.slice(0, end), words.slice(end)];
    end += option.value !== undefined && !option.optionalValue && attached === undefined ? 2 : 1;
  }
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

function missingVerb(path: readonly string[], verbs: readonly string[], word: string | undefined): Error {
  const here = ['atrium', ...path].join(' ');
  if (word === undefined)
    return misuse(`missing subcommand after ${here}: use one of ${verbs.join(', ')}; run ${here} --help`);
  const what = word.startsWith('-')
    ? `${word} must come after the command`
    : `${here} has no subcommand ${shown(word)}`;
  return misuse(`${what}${verbHint(word, verbs)}; run ${here} --help`);
}

export function readValues(node: Command, words: readonly string[], path: readonly string[]): Read.Values {
  const here = ['atrium', ...path].join(' ');
  const known: Readonly<Record<string, Option>> = { ...globalOptionsOf(node), ...optionsOf(node) };
  const given = new Map<string, (string | true)[]>();
  const free: string[] = [];
  const end = endOfOptions(words);
  for (let place = 0; place < words.length; place++) {
    const word = words[place] ?? '';
    if (place >= end || !word.startsWith('-') || word === '-') {
      if (place !== end) free.push(word);
      continue;
    }
    const [name, attached] = nameAndValue(word, known, here);
    const option = known[name] as Option;
    if (option.value === undefined) {
      if (attached !== undefined) throw misuse(`--${name} takes no value; run ${here} --help`);
      note(given, name, true);
      continue;
    }
    if (option.optionalValue && attached === undefined) {
      const next = place + 1 < end ? words[place + 1] : undefined;
      const isValue = next !== undefined && isFieldList(next, node);
      note(given, name, isValue ? (next ?? '') : '');
      if (isValue) place++;
      continue;
    }
    const value = attached ?? words[++place];
    if (value === undefined || place === end)
      throw misuse(`--${name} needs a value: --${name} ${option.value}; run ${here} --help`);
    note(given, name, checked(value, option.choices, `--${name}`, option.advice));
  }
  for (const [name, values] of given) {
    if (values.length > 1 && !known[name]?.many && known[name]?.value) throw misuse(`--${name} can only be given once`);
  }
  const pickValue = (name: string, option: Option) => {
    const values = given.get(name) ?? [];
    return option.value === undefined ? values.length > 0 : option.many ? values : values[0];
  };
  const pick = (options: Readonly<Record<string, Option>>) =>
    Object.fromEntries(Object.entries(options).map(([name, option]) => [name, pickValue(name, option)]));
  return {
    args: readArgs(node.args ?? {}, free, here, takesSecret(node)),
    options: pick(node.options ?? {}) as Read.Values['options'],
    global: pick({ ...GLOBAL, ...WATCHING }) as unknown as GlobalValues,
  };
}

/** A word that cannot be an argument: it has a comma, or the command takes no arguments at all. */
function isFieldList(word: string, { args = {} }: Command): boolean {
  return Object.keys(args).length === 0 ? /^\w[\w.,]*$/.test(word) : /^[\w.]+(,[\w.]+)+$/.test(word);
}

function endOfOptions(words: readonly string[]): number {
  const end = words.indexOf('--');
  return end < 0 ? words.length : end;
}

function nameAndValue(
  word: string,
  known: Readonly<Record<string, Option>>,
  here: string,
): readonly [name: string, value: string | undefined] {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=');
    const name = equals < 0 ? word.slice(2) : word.slice(2, equals);
    if (Object.hasOwn(known, name)) return [name, equals < 0 ? undefined : word.slice(equals + 1)];
    const names = Object.keys(known).map((one) => `--${one}`);
    throw misuse(`unknown option ${shown(`--${name}`)}${didYouMean(`--${name}`, names)}; run ${here} --help`);
  }
  const found = Object.entries(known).find(([, option]) => option.short === word[1]);
  if (!found || (found[1].value === undefined && word.length > 2)) {
    throw misuse(`unknown option ${shown(word)}; run ${here} --help`);
  }
  return [found[0], word.length > 2 ? word.slice(2) : undefined];
}

/** Whether the command reads a secret, so that a word too many may be one. */
function takesSecret({ options = {} }: Command): boolean {
  return Object.keys(options).some((name) => /-stdin$|^secret-file$/.test(name));
}

function readArgs(args: Args, free: readonly string[], here: string, mayBeSecret: boolean) {
  const left = [...free];
  const values = Object.entries(args).map(([name, { optional, many, choices }]) => {
    if (left.length === 0 && !optional) throw misuse(`missing argument ${name.toUpperCase()}; run ${here} --help`);
    const taken = many ? left.splice(0) : left.splice(0, 1);
    for (const value of taken) {
      if (value === '') throw misuse(`${name.toUpperCase()} must not be empty; run ${here} --help`);
      checked(value, choices, name.toUpperCase());
    }
    return [name, many ? taken : taken[0]] as const;
  });
  if (left.length > 0 && mayBeSecret) {
    throw misuse(`too many arguments; a secret is not an argument, because other users can see it; run ${here} --help`);
  }
  if (left.length > 0) throw misuse(`unexpected argument ${shown(left[0] ?? '')}; run ${here} --help`);
  return Object.fromEntries(values);
}

function checked(
  value: string,
  choices: readonly string[] | undefined,
  what: string,
  advice: Option['advice'] = () => '',
): string {
  if (choices === undefined || choices.includes(value)) return value;
  const hint = didYouMean(value, choices);
  throw misuse(`invalid value ${shown(value)} for ${what}${hint}; use one of ${choices.join(', ')}${advice(value)}`);
}

function note(given: Map<string, (string | true)[]>, name: string, value: string | true): void {
  given.set(name, [...(given.get(name) ?? []), value]);
}

/** A word from the user in a message: shortened, and without anything that controls the terminal. */
function shown(word: string): string {
  return JSON.stringify(word.length > 60 ? `${word.slice(0, 57)}…` : word);
}
