/**
 * npm run bench -- engine: the engine at a million tuples, then its peers from npm on a smaller world with the same
 * questions. With BENCH_ASSIGNED=1, a tenth of all tuples are roles on single clusters, and no peer is asked.
 */
import { allowed, createGraph, type Graph, readModel } from '../packages/rebac/src/rebac.ts';
import { measure, measureEach, measureInTurns, memory, type Speed } from './engine/measure.ts';
import { install, load, PEER_FOLDER, type PeerKind } from './engine/peer.ts';
import { casbin } from './engine/peer-casbin.ts';
import { cedar } from './engine/peer-cedar.ts';
import { cerbos } from './engine/peer-cerbos.ts';
import { spicedb } from './engine/peer-spicedb.ts';
import {
  ASSIGNED_CLUSTERS,
  ASSIGNED_MODEL,
  type Habit,
  MODEL,
  type Question,
  questionsOf,
  tuplesOfAll,
} from './engine/world.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const PEER_ORGANIZATIONS = 10;
const write = (line: string): boolean => process.stdout.write(`${line}\n`);
const IS_ASSIGNED = process.env.BENCH_ASSIGNED === '1';
const model = await readModel(IS_ASSIGNED ? ASSIGNED_MODEL : MODEL);

function ask(graph: Graph): (question: Question) => readonly string[] {
  return ({ user, object }) => allowed(graph, user, object, { prefix: 'can_' });
}

function cells({ perSecond, best, p50, p99 }: Speed): string {
  return `${Math.round(perSecond)} | ${Math.round(best)} | ${p50.toFixed(2)} | ${p99.toFixed(2)}`;
}

const HABITS: readonly Habit[] = ['even', 'skewed'];

/** A graph, and how many bytes it takes per tuple. */
function worldOf(organizations: number) {
  const before = memory();
  const graph = createGraph(model, tuplesOfAll(organizations, IS_ASSIGNED));
  ask(graph)(questionsOf(organizations, 1)[0] as Question);
  const bytes = (memory() - before) / graph.size;
  return { organizations, graph, bytes };
}

/** How fast small and large graphs answer, measured in turn. */
function sizes(): void {
  const worlds = [10, 100, 1000].map(worldOf);
  const speeds = HABITS.map((habit) => {
    const contestants = worlds.map(({ organizations, graph }) => ({
      questions: questionsOf(organizations, 200_000, habit, 7, IS_ASSIGNED ? ASSIGNED_CLUSTERS : undefined),
      ask: ask(graph),
    }));
    return measureInTurns(contestants, SECONDS);
  });
  worlds.forEach(({ graph, bytes }, at) => {
    for (const [place, habit] of HABITS.entries()) {
      const speed = speeds[place]?.[at] as Speed;
      write(
        `| ${graph.size} | ${habit} | ${cells(speed)} | ${bytes.toFixed(1)} | ${(graph.bytes / graph.size).toFixed(1)} |`,
      );
    }
  });
  for (const [place, habit] of HABITS.entries()) {
    const [small, , large] = speeds[place] as [Speed, Speed, Speed];
    const [median, best] = [small.perSecond / large.perSecond, small.best / large.best];
    write(
      `\ncost at 1,000,000 tuples against 10,000, ${habit}: ${median.toFixed(2)}× (best windows ${best.toFixed(2)}×)`,
    );
  }
}

function cold(): void {
  const tuples = [...tuplesOfAll(10, IS_ASSIGNED)];
  const times = Array.from({ length: 15 }, () => {
    const start = performance.now();
    const graph = createGraph(model, tuples);
    ask(graph)(questionsOf(10, 1)[0] as Question);
    return performance.now() - start;
  }).sort((a, b) => a - b);
  write(
    `\ncold: 10,000 tuples to the first answer in ${times[7]?.toFixed(1)} ms (median; slowest ${times[14]?.toFixed(1)} ms)`,
  );
}

async function compare(kind: PeerKind, ours: Speed, graph: Graph, questions: readonly Question[]): Promise<void> {
  try {
    install(kind.name, kind.version);
    const peer = await kind.start(load, [...tuplesOfAll(PEER_ORGANIZATIONS)], PEER_FOLDER);
    let differing = 0;
    let asked = 0;
    const speed = await measureEach(
      questions,
      async (question) => {
        const theirs = await peer.ask(question);
        asked++;
        if ([...theirs].sort().join() !== ask(graph)(question).toSorted().join()) differing++;
      },
      SECONDS,
    );
    await peer.stop();
    const ratio = Math.round(ours.perSecond / speed.perSecond);
    write(`| ${kind.name} | ${cells(speed)} | ${ratio}× | ${differing} of ${asked} | ${kind.note} |`);
  } catch (error) {
    write(`| ${kind.name} | NOT MEASURED: ${(error as Error).message.split('\n')[0]} | | | | | |`);
  }
}

write(
  '| tuples | questions | answers/s | best | p50 µs | p99 µs | bytes a tuple | as the graph reports |\n|---|---|---|---|---|---|---|---|',
);
sizes();
cold();
if (IS_ASSIGNED) process.exit(0);

const graph = createGraph(model, tuplesOfAll(PEER_ORGANIZATIONS));
const questions = questionsOf(PEER_ORGANIZATIONS, 20_000, 'even', 11);
const ours = measure(questions, ask(graph), SECONDS);
write(`\n${graph.size} tuples, every permission of one object\n`);
write(
  '| engine | answers/s | best | p50 µs | p99 µs | ours is faster | answers that differ | asked how |\n|---|---|---|---|---|---|---|---|',
);
write(`| ours | ${cells(ours)} | 1× | | one walk |`);
for (const kind of [casbin, cedar, spicedb, cerbos]) await compare(kind, ours, graph, questions);
process.exit(0);
