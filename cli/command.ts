import {
  type Arg,
  type Args,
  GLOBAL,
  type Option,
  type Options,
  type Values,
  WATCHING,
  WITH_CSV,
} from './arguments.ts';
import type { Shown } from './output.ts';
import type { Session } from './session.ts';
import type { Watch } from './watched.ts';

/** A command as data. Help, completion, usage errors and the documentation page are all derived from it. */
export interface Command<A extends Args = Args, O extends Options = Options> {
  readonly summary: string;
  readonly details?: string;
  readonly args?: A;
  readonly options?: O;
  /** As the user types them. The rest of each line says what the example is for. */
  readonly examples: readonly string[];
  /** The exit code of a rejection, if 1 is an answer of this command. */
  readonly exitIfRefused?: number;
  /** Accepts --watch, and how. */
  readonly watch?: Watch;
  /** Accepts -o csv, and then returns text. */
  readonly hasCsv?: true;
  run(session: Session, values: Values<A, O>): Promise<Shown | undefined>;
}

/** How the server's own program describes one of its commands. */
export interface ServerCommandText {
  readonly name: string;
  readonly summary: string;
  readonly usage: readonly string[];
  readonly subcommands?: readonly string[];
  readonly options?: readonly { readonly name: string; readonly value?: string; readonly help: string }[];
  readonly examples?: readonly string[];
}

/** A command that needs the server's own machine, so the server's own program runs it. */
export interface ServerCommand extends Omit<ServerCommandText, 'name'> {
  readonly onServer: true;
}

export interface Group {
  readonly summary: string;
  /** The command that runs if the words name none. */
  readonly byDefault?: string;
  /** The command that takes a next word that names none of them. Its commands then have no other words. */
  readonly otherwise?: string;
  readonly commands: Readonly<Record<string, Command | Group | ServerCommand>>;
}

export type Node = Command | Group | ServerCommand;

export function command<const A extends Args = Record<never, Arg>, const O extends Options = Record<never, Option>>(
  definition: Command<A, O>,
): Command {
  return definition as unknown as Command;
}

/** The options of a command besides those that every command accepts. */
export function optionsOf({ options = {}, watch }: Command): Options {
  return watch ? { ...options, ...WATCHING } : options;
}

/** The options that every command accepts, as this one does. */
export function globalOptionsOf({ hasCsv }: Command): Options {
  return hasCsv ? { ...GLOBAL, ...WITH_CSV } : GLOBAL;
}

export function isGroup(node: Node): node is Group {
  return 'commands' in node;
}

export function isOnServer(node: Node): node is ServerCommand {
  return 'onServer' in node;
}
