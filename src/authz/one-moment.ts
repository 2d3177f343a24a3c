import type { Graph } from '../../packages/rebac/src/rebac.ts';
import { AppError } from '../base/errors.ts';
import { createSlices } from '../base/scheduling/slices.ts';
import type { NowGraphs } from '../history/past.ts';
import type { Graphs } from './graphs.ts';

/**
 * Work on two graphs that may be interrupted at each `yield`, and that begins anew if a graph changed meanwhile. If they
 * are of a past moment, it also gets those of the present, which decide what the caller may see.
 */
export type Work<T> = (first: Graph, second: Graph, now?: NowGraphs) => Generator<void, T, void>;

const MAX_STARTS = 8;
/** From this start on, pieces are longer, so that fewer changes come between them. */
const HURRIED_START = 4;
const HURRIED_PIECE_MS = 60;

interface Running<T> {
  readonly graphs: readonly Graph[];
  readonly revisions: readonly number[];
  readonly work: Generator<void, T, void>;
}

/**
 * Asks two graphs in pieces, all as of one and the same moment, and serves other requests in between. Usually one piece
 * is enough. If the organization changes all the time, and there is much to ask, nothing can be said about one moment.
 */
export async function inOneMoment<T>(
  graphs: Pick<Graphs, 'together'>,
  one: bigint,
  other: bigint,
  work: Work<T>,
): Promise<T> {
  const slices = createSlices();
  for (let start = 1; start <= MAX_STARTS; start++) {
    let running: Running<T> | undefined;
    for (let isSame = true; isSame; ) {
      const piece = await graphs.together(one, other, (first, second, now) => {
        const all = now ? [first, second, now.first, now.second] : [first, second];
        const revisions = all.map(({ revision }) => revision);
        running ??= { graphs: all, revisions, work: work(first, second, now) };
        isSame = isUnchanged(running, all);
        return isSame ? advance(running.work, slices, start < HURRIED_START ? undefined : HURRIED_PIECE_MS) : undefined;
      });
      if (piece?.done) return piece.value;
      await slices.rest();
    }
  }
  throw new AppError('unavailable', 'the organization changes too fast for this question; ask about fewer objects', {
    retryAfter: 1,
  });
}

function isUnchanged<T>({ revisions, graphs }: Running<T>, all: readonly Graph[]): boolean {
  return all.every((graph, place) => graph === graphs[place] && graph.revision === revisions[place]);
}

function advance<T>(
  work: Generator<void, T, void>,
  slices: ReturnType<typeof createSlices>,
  ms: number | undefined,
): IteratorResult<void, T> {
  for (;;) {
    const step = work.next();
    if (step.done || slices.isOver(ms)) return step;
  }
}
