/**
 * How long one request keeps all other requests waiting: the processor time of the server's thread between two turns of
 * its event loop, at most. Time during which the thread waits, or another process has the core, does not count.
 */
export interface Hold {
  readonly longestMs: number;
  readonly totalMs: number;
}

/** A turn that is shorter than this is not told apart from the next one, so that the meter itself costs little. */
const TICK_MS = 1;

/** Begins to measure. The returned function ends it, one turn later, so that the last piece of work is counted. */
export function startMeter(): () => Promise<Hold> {
  const begin = usedMs();
  let last = begin;
  let longestMs = 0;
  const tick = () => {
    const now = usedMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  const timer = setInterval(tick, TICK_MS);
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 2 * TICK_MS));
    clearInterval(timer);
    tick();
    return { longestMs, totalMs: usedMs() - begin };
  };
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** What the reference work takes on a quiet machine: two cores of an Intel Xeon, Node 24.21. */
export const REFERENCE_MS = 11;
const ROUNDS = 5;

/**
 * How much slower than the quiet reference machine this one is at the moment. A core that shares its caches and its
 * clock with busy neighbors also needs more processor time for the same work.
 */
export function slowness(): number {
  const times = Array.from({ length: ROUNDS }, () => {
    const begin = usedMs();
    referenceWork();
    return usedMs() - begin;
  });
  return Math.min(...times) / REFERENCE_MS;
}

/** Text, maps and small objects: what handling a request consists of. */
function referenceWork(): number {
  let found = 0;
  for (let round = 0; round < 8; round++) {
    const people = new Map<string, { id: number; teams: number[] }>();
    for (let id = 0; id < 2000; id++) people.set(`user:${id}`, { id, teams: [id % 7, id % 11] });
    const text = JSON.stringify([...people]);
    for (const [name, { teams }] of JSON.parse(text) as [string, { teams: number[] }][]) {
      found += name.length + teams.length + (people.get(name)?.id ?? 0);
    }
  }
  return found;
}
