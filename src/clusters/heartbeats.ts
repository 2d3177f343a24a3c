import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { SILENT_MS } from './cluster.ts';
import { createWriteBatcher } from './write-batcher.ts';

/** What a cluster reports about itself; a field that is left out stays as it is. */
export interface Beat {
  readonly phase?: string | undefined;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly nodeCount?: number | undefined;
  readonly orchestratorVersion?: string | undefined;
}

export interface HeartbeatStore {
  /**
   * Applies the heartbeats of clusters that are already in the reported phase, or in a steady phase if they report
   * none, and whose last heartbeat was not long ago. Returns the IDs of these clusters; the others are not changed.
   */
  repeat(beats: readonly PlacedBeat[], terms: RepeatTerms): Promise<ReadonlySet<bigint>>;
  /**
   * `decide` gets the last reported phase while no other transaction can change it. Returns false if there is no such
   * cluster.
   */
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

/** The phases that last until another one is reported. */
const STEADY: readonly string[] = ['Active', 'NotReady', 'Inactive'];
const MAX_REASON = 100;
const MAX_MESSAGE = 1000;
const MAX_VERSION = 100;

/**
 * Thousands of clusters report every half minute, and nearly always report the same as before: heartbeats that arrive
 * together become one statement. Only a heartbeat that changes the phase, as it was shown a moment ago, is recorded in
 * the audit log.
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
    // A cluster that reports is connected, unless it reports something else.
    const decide = (last: string) => phase ?? (STEADY.includes(last) ? last : 'Active');
    if (!(await store.turn(beat, decide, actor)))
      throw new AppError('notFound', 'cluster does not exist', { reason: 'cluster_not_found' });
  }
}

/**
 * A reported phase replaces the reason and the message, which are empty if they are not reported. A message that is too
 * long is cut: a cluster must not fall silent because of it.
 */
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
