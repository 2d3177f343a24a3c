import { ApiError, UnreachableError } from '../client/errors.ts';
import { misuse } from './failure.ts';
import { asJson, asYaml, type Format, type Shown } from './output.ts';
import type { Screen } from './screen.ts';
import type { Session } from './session.ts';
import { plain } from './text.ts';
import { type Changes, changesBetween, everything, type Look, lookAt, mayLack, type Watch } from './watched.ts';

/** Between two attempts while the server is busy or away. */
const MAX_PAUSE_MS = 60_000;
/** What shells report for a program that Ctrl-C has ended. */
const INTERRUPTED = 130;
const CLEAR = '\u001b[H\u001b[2J\u001b[3J';
const WIDTH = 'CHANGED  '.length;

export interface Watching extends Watch {
  look(): Promise<Shown | undefined>;
  /** Resolves when it is time to look again. */
  pause(ms: number): Promise<unknown>;
}

/** Looks again and again, and prints what is different from the time before. Only a signal or an error ends it. */
export async function watch(session: Session, watching: Watching): Promise<never> {
  const end = () => process.exit(INTERRUPTED);
  process.once('SIGINT', end);
  try {
    return await compare(session, watching);
  } finally {
    process.off('SIGINT', end);
  }
}

async function compare({ screen, format, fields, intervalMs }: Session, watching: Watching): Promise<never> {
  const style = format === 'wide' ? { ...screen.style, width: undefined } : screen.style;
  const shown = await watching.look();
  if (!shown) throw misuse('with these options there is nothing to watch; leave out --watch');
  let before = lookAt(shown, style, fields, watching);
  await print(screen, format, before, everything(before, watching));
  let failures = 0;
  let ms = intervalMs;
  for (;;) {
    await watching.pause(ms);
    ms = intervalMs;
    const next = await watching.look().catch((error: unknown) => {
      ms = pauseAfter(error, intervalMs, failures++);
      screen.note(plain(`${(error as Error).message}; looking again in ${Math.ceil(ms / 1000)} s`));
      return undefined;
    });
    if (!next) continue;
    failures = 0;
    const now = lookAt(next, style, fields, watching);
    if (watching.newestFirst && mayLack(before, now)) {
      screen.note(`more than ${now.things.size} are new, so some may be missing here; use a larger --limit`);
    }
    const changes = changesBetween(before, now, watching);
    if (changes.length > 0) await print(screen, format, now, changes, before);
    before = now;
  }
}

/** How long to wait for a server that is busy or away. Every other error ends the watch. */
function pauseAfter(error: unknown, intervalMs: number, failures: number): number {
  const isBusy = error instanceof ApiError && (error.status === 429 || (error.status >= 502 && error.status <= 504));
  if (!isBusy && !(error instanceof UnreachableError)) throw error;
  const askedMs = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0;
  return Math.max(askedMs, intervalMs, Math.min(intervalMs * 2 ** failures, MAX_PAUSE_MS));
}

async function print(screen: Screen, format: Format, look: Look, changes: Changes, before?: Look): Promise<void> {
  if (format === 'json') {
    for (const [change, { data }] of changes) screen.writeDocument(asJson({ change, object: data }, 0));
  } else if (format === 'yaml') {
    for (const [change, { data }] of changes) screen.writeDocument(`---\n${await asYaml({ change, object: data })}`);
  } else if (format === 'name') {
    for (const [change, { name }] of changes) if (change !== 'removed' && name !== undefined) screen.write(name);
  } else if (screen.style.width !== undefined) {
    for (const line of page(look.lines, process.stdout.rows)) screen.write(line);
  } else {
    for (const line of textOf(look, changes, before)) screen.write(line);
  }
}

/** The whole result on a cleared terminal, without the lines that would scroll its beginning away. */
function page(lines: readonly string[], rows: number | undefined): string[] {
  const room = rows === undefined ? lines.length : Math.max(1, rows - 2);
  const shown = lines.slice(0, room);
  const rest = lines.length - shown.length;
  const all = rest > 0 ? [...shown, `… and ${rest} more ${rest === 1 ? 'line' : 'lines'}`] : shown;
  return all.map((line, index) => (index === 0 ? CLEAR + line : line));
}

/** A table has a column more, which says what happened; what is only one thing is printed as a whole. */
function textOf({ head, lines }: Look, changes: Changes, before: Look | undefined): readonly string[] {
  if (head === undefined) return before ? ['', ...lines] : lines;
  if (!before && changes.length === 0) return lines;
  const isUntitled = !before || before.things.size === 0;
  const title = isUntitled && head !== '' ? [`${'CHANGE'.padEnd(WIDTH)}${head}`] : [];
  const rows = changes.flatMap(([change, thing]) =>
    thing.lines.map((line) => `${(before ? change : '').padEnd(WIDTH)}${line}`),
  );
  return [...title, ...rows];
}
