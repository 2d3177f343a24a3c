import type { ClusterFields } from './cluster-fields.ts';

export interface Cluster extends ClusterFields {
  readonly id: bigint;
  readonly name: string;
  readonly uid: string;
  readonly ownerId: bigint;
  readonly ownerName: string;
  /** As it was last reported; `statusOf` tells what it means by now. */
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  /** Null if it has never reported. */
  readonly heartbeatAt: Date | null;
  readonly createdAt: Date;
}

export interface ClusterStatus {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
}

export const PHASES = ['Active', 'Inactive', 'NotReady', 'NotConnected', 'Registered', 'NotImported', 'Lost'] as const;
export type Phase = (typeof PHASES)[number];

/** The phases in which a cluster should work and does not: what every page counts as needing attention. */
export const ATTENTION_PHASES: readonly Phase[] = ['NotReady', 'NotConnected', 'Lost'];

/** Agents report every half minute: a cluster that missed four reports is not connected, after a day it is lost. */
export const SILENT_MS = 120_000;
export const LOST_MS = 86_400_000;

/** The phases in which a cluster reports, and falls silent if it does not. */
export const UP_PHASES: readonly string[] = ['Active', 'NotReady'];
/** The phases in which a cluster is lost after a long silence. */
export const LOSABLE_PHASES: readonly string[] = [...UP_PHASES, 'NotConnected'];

/**
 * Only a cluster that has reported can fall silent; an inactive one is expected to. Derived on reading, so nothing has
 * to watch. `shownPhase` derives the same phase in SQL.
 */
export function statusOf(cluster: ClusterStatus & Pick<Cluster, 'heartbeatAt'>, now: Date): ClusterStatus {
  const { phase, reason, message, heartbeatAt } = cluster;
  const silence = heartbeatAt === null ? 0 : now.getTime() - heartbeatAt.getTime();
  if (silence > LOST_MS && LOSABLE_PHASES.includes(phase)) return silent('Lost', heartbeatAt);
  if (silence > SILENT_MS && UP_PHASES.includes(phase)) return silent('NotConnected', heartbeatAt);
  return { phase, reason, message };
}

function silent(phase: string, since: Date | null): ClusterStatus {
  return { phase, reason: 'Unknown', message: `no heartbeat since ${since?.toISOString().slice(0, 19)}Z` };
}

/** How long ago, in the largest unit that fits: 43m, 8d, 6mo. */
export function ageOf(createdAt: Date, now: Date): string {
  const seconds = Math.max(0, Math.floor((now.getTime() - createdAt.getTime()) / 1000));
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, 's'];
  return `${Math.floor(seconds / size)}${unit}`;
}

const DAY = 86_400;
const UNITS: readonly (readonly [number, string])[] = [
  [365 * DAY, 'y'],
  [30 * DAY, 'mo'],
  [DAY, 'd'],
  [3600, 'h'],
  [60, 'm'],
];
