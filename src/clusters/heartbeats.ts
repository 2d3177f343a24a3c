import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { SILENT_MS } from './cluster.ts';
import { createWriteBatcher } from './write-batcher.ts';

/** What a cluster says of itself; what it leaves out stays as it was. */
export interface Beat {
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly nodeCount?: number | undefined;
  readonly orchestratorVersion?: string | undefined;
}

export interface HeartbeatStore {
  /**
   * Takes the beats of clusters that are in the phase that they say, or in a steady one when they say none, and have been
   * heard not long before. Answers whose these were; about the others nothing is changed.
   */
  repeat(beats: readonly PlacedBeat[], terms: RepeatTerms): Promise<ReadonlySet<bigint>>;
  /** `decide` sees the phase that was said last while nobody else can change it; false: there is no such cluster. */
  turn(beat: PlacedBeat, decide: (last: string) => string, actor: Actor): Promise<boolean>;
}

export interface RepeatTerms {
  readonly steady: readonly string[];
  readonly silentMs: number;
}

export interface PlacedBeat extends Beat {
  readonly ownerId: bigint;
  readonly id: bigint;
  readonly now: Date;
}

export type Heartbeats = ReturnType<typeof createHeartbeats>;

/** The phases that last until another one is said. */
const STEADY: readonly string[] = ['Active', 'NotReady', 'Inactive'];
const MAX_REASON = 100;
const MAX_MESSAGE = 1000;
const MAX_VERSION = 100;

/**
 * Thousands of clusters speak every half minute, and nearly always say what they said before: those that come together are
 * one statement. Only a beat that changes the phase, as it was shown a moment ago, is put on record.
 */
export function createHeartbeats(store: HeartbeatStore) {
  const repeat = createWriteBatcher<PlacedBeat>((beats) =>
    store.repeat(beats, { steady: STEADY, silentMs: SILENT_MS }),
  );
  return { take };

  async function take(ownerId: bigint, id: bigint, said: Beat, now: Date, actor: Actor): Promise<void> {
    const beat = { ...trimmed(said), ownerId, id, now };
    const { phase } = beat;
    if (await repeat(beat)) return;
    // Who speaks is connected, unless something else is said.
    const decide = (last: string) => phase ?? (STEADY.includes(last) ? last : 'Active');
    if (!(await store.turn(beat, decide, actor))) throw new AppError('notFound', 'cluster does not exist');
  }
}

/** A phase is said with its reason and message, or without any. Too long a message is cut: a cluster must not fall silent over it. */
function trimmed({ phase, reason, message, nodeCount, orchestratorVersion }: Beat): Beat {
  const unsaid = phase === undefined ? undefined : '';
  return {
    phase,
    reason: cut(reason, MAX_REASON) ?? unsaid,
    message: cut(message, MAX_MESSAGE) ?? unsaid,
    nodeCount,
    orchestratorVersion: cut(orchestratorVersion, MAX_VERSION),
  };
}

function cut(text: string | undefined, most: number): string | undefined {
  return text === undefined ? undefined : [...text.trim()].slice(0, most).join('');
}
