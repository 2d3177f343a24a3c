import type { Arg, Option } from './arguments.ts';
import { CATALOGUE } from './catalogue.ts';
import {
  type Command,
  globalOptionsOf,
  isGroup,
  isOnServer,
  type Node,
  optionsOf,
  type ServerCommand,
} from './command.ts';
import { defaultIn, leadingOptions, readValues, verbOf } from './parse.ts';
import type { Screen } from './screen.ts';
import { createSession, type Session } from './session.ts';
import { plain } from './text.ts';

const PATIENCE = '1';
/** Asks the shell to complete file names itself. */
export const FILES = ':files';

/**
 * What the last of these words could become: one candidate per line, with its description after a tab. Never fails: if
 * the user is not signed in, or the server does not answer within a second, there are just no names.
 */
export async function complete(words: readonly string[], env: NodeJS.ProcessEnv, screen: Screen): Promise<string[]> {
  const before = words.slice(0, -1);
  const last = words.at(-1) ?? '';
  const found = await candidates(before, last, env, screen).catch(() => []);
  return found.filter(([word]) => word === FILES || word.startsWith(last)).map((pair) => pair.map(plain).join('\t'));
}

type Candidate = readonly [word: string, about: string];

async function candidates(
  before: readonly string[],
  last: string,
  env: NodeJS.ProcessEnv,
  screen: Screen,
): Promise<Candidate[]> {
  const [leading, [first, ...rest]] = leadingOptions(before);
  if (first === undefined) return Object.entries(CATALOGUE).map(([name, { about }]) => [name, about]);
  let node: Node | undefined = await CATALOGUE[first]?.load();
  while (node && isGroup(node) && rest.length > 0) {
    const verb = verbOf(node, rest[0] ?? '');
    if (Object.hasOwn(node.commands, verb)) rest.shift();
    node = node.commands[verb] ?? defaultIn(node, rest[0] ?? '');
  }
  if (node && isGroup(node) && last.startsWith('-')) node = defaultIn(node, last) ?? node;
  if (!node) return [];
  if (isOnServer(node)) return onServer(node, rest.length === 0, last);
  if (isGroup(node)) {
    const names = Object.entries(node.commands).map(([name, { summary }]): Candidate => [name, summary]);
    const other = node.otherwise === undefined ? undefined : node.commands[node.otherwise];
    const arg = other && !isGroup(other) && !isOnServer(other) ? argumentAt(other, 0) : undefined;
    return arg ? [...names, ...(await values(arg, rest, other as Command))] : names;
  }
  const options: Readonly<Record<string, Option>> = { ...optionsOf(node), ...globalOptionsOf(node) };
  const open = openOption(options, rest.at(-1) ?? '');
  if (open) return await values(open, rest.slice(0, -1), node);
  if (last.startsWith('-')) return Object.entries(options).map(([name, { about }]) => [`--${name}`, about]);
  const arg = argumentAt(node, placeOf(rest, options));
  return arg ? await values(arg, rest, node) : [];

  async function values(of: Option | Arg, typed: readonly string[], command: Command): Promise<Candidate[]> {
    if (of.choices) return of.choices.map((choice) => [choice, '']);
    if (of.kind === 'file') return [[FILES, '']];
    if (of.kind === undefined) return [];
    const session = sessionFor(command, typed);
    const { namesOf } = await import('./complete-names.ts');
    return (await namesOf(session, of.kind, last)).map((name) => [name, '']);
  }

  /** Uses what was typed so far, so that --context and --org apply. An unfinished line is not an error here. */
  function sessionFor(command: Command, typed: readonly string[]): Session {
    const lenient = { ...command, args: { words: { about: '', many: true, optional: true } } } as Command;
    const { global } = readValues(lenient, [...leading, ...typed], []);
    return createSession({ ...global, timeout: PATIENCE }, env, screen);
  }
}

function onServer({ subcommands = [], options = [] }: ServerCommand, isFirst: boolean, last: string): Candidate[] {
  if (last.startsWith('-')) return options.map(({ name, help }) => [name, help]);
  return isFirst && subcommands.length > 0 ? subcommands.map((word) => [word, '']) : [[FILES, '']];
}

/** The option whose value is being typed. */
function openOption(options: Readonly<Record<string, Option>>, word: string): Option | undefined {
  const found = Object.entries(options).find(([name, { short }]) => word === `--${name}` || word === `-${short}`);
  return found?.[1].value === undefined ? undefined : found[1];
}

/** How many arguments come before the word. */
function placeOf(words: readonly string[], options: Readonly<Record<string, Option>>): number {
  let count = 0;
  for (let at = 0; at < words.length; at++) {
    if (!words[at]?.startsWith('-')) count++;
    else if (openOption(options, words[at] ?? '')) at++;
  }
  return count;
}

function argumentAt({ args = {} }: Command, place: number): Arg | undefined {
  const all = Object.values(args);
  return all[place] ?? (all.at(-1)?.many ? all.at(-1) : undefined);
}
