import type { ApiError } from '../client/errors.ts';
import { CATALOGUE } from './catalogue.ts';
import { EXIT, Failure, misuse } from './failure.ts';
import { read } from './parse.ts';
import { createScreen, type Screen } from './screen.ts';
import { plain } from './text.ts';

/** Commands that exit 2 if something differs, as `diff` of other programs exits 1. */
const COMPARING = new Set(['plan', 'drift']);
const INTERRUPTED = 130;

interface Surroundings {
  /** Runs the server's own program, for commands that need the server's own machine. */
  runOnServer(): Promise<unknown>;
}

export async function main(argv: readonly string[], { runOnServer }: Surroundings): Promise<void> {
  const screen = createScreen(process.env);
  const exits = { rejected: EXIT.rejected as number };
  try {
    process.exitCode = await run(argv, screen, runOnServer, exits);
  } catch (error) {
    const exit = await explain(error, screen);
    // To a pipeline, 2 is an answer of these commands: nothing else may look like it.
    const isAnswer = argv.some((word) => COMPARING.has(word)) && exit !== INTERRUPTED;
    process.exitCode = isAnswer || exit === EXIT.rejected ? exits.rejected : exit;
  }
}

async function run(
  argv: readonly string[],
  screen: Screen,
  runOnServer: () => Promise<unknown>,
  exits: { rejected: number },
): Promise<number> {
  if (argv[0] === '__complete') {
    const { complete } = await import('./complete.ts');
    for (const line of await complete(argv.slice(1), process.env, screen)) screen.write(line);
    return 0;
  }
  const found = await read(argv, Object.keys(CATALOGUE), async (name) =>
    Object.hasOwn(CATALOGUE, name) ? await CATALOGUE[name]?.load() : undefined,
  );
  if (found.what === 'server') {
    await runOnServer();
    return Number(process.exitCode ?? 0);
  }
  if (found.what === 'help') {
    const { help } = await import('./help.ts');
    for (const line of help(found.path, found.node, screen.style)) screen.write(line);
    return 0;
  }
  const { command, values } = found;
  exits.rejected = command.exitIfRefused ?? EXIT.rejected;
  const { createSession } = await import('./session.ts');
  const session = createSession(values.global, process.env, screen);
  if (session.format === 'csv' && session.isWatching) throw misuse('CSV cannot be watched; leave out --watch');
  const look = () =>
    command.run(session, values as never).catch(async (error: unknown) => {
      if ((error as { status?: unknown }).status !== 404) throw error;
      const { withHint } = await import('./hints.ts');
      throw await withHint(error as ApiError, session, values.args);
    });
  if (session.isWatching) {
    const { watch } = await import('./watch.ts');
    return await watch(session, { ...command.watch, look, pause });
  }
  const shown = await look();
  if (!shown) return 0;
  await screen.show(shown, session.format, session.fields);
  return shown.exit ?? 0;
}

function pause(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Prints one line that says what went wrong, and returns the exit code for scripts. */
async function explain(error: unknown, screen: Screen): Promise<number> {
  if (error instanceof Failure) {
    screen.complain(plain(error.message));
    return error.exit;
  }
  const { ApiError, UnreachableError } = await import('../client/errors.ts');
  // What the transport says about a response that a command cannot use comes through the client.
  if (error instanceof UnreachableError && error.cause instanceof Failure) return await explain(error.cause, screen);
  if (error instanceof UnreachableError) {
    screen.complain(plain(`${error.message}; is the server running, and is its address correct?`));
    return EXIT.unreachable;
  }
  if (error instanceof ApiError) {
    const { wordsFor } = await import('./rejection.ts');
    const { line, exit } = wordsFor(error);
    screen.complain(plain(line));
    return exit;
  }
  screen.complain(`internal error, please report it: ${(error as Error)?.stack ?? String(error)}`);
  return EXIT.rejected;
}
