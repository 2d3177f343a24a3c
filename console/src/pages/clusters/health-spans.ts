import type { Answer } from '../../../../client/client.ts';

/** An entry of the log about the phase of a cluster. */
export type PhaseEntry = Pick<Answer<'GET /orgs/{org}/audit'>['items'][number], 'at' | 'before' | 'after'>;

/** A time in which a cluster was in one phase. */
export interface HealthSpan {
  readonly from: number;
  readonly until: number;
  /** Undefined where the log does not say it. */
  readonly phase: string | undefined;
}

interface Status {
  readonly phase: string;
  readonly message: string;
}

interface Present extends Status {
  readonly createdAt: string;
  /** When it last reported; 0 if it never has. */
  readonly heartbeatAt: string;
}

const SILENT_PHASES = ['NotConnected', 'Lost'];

/**
 * The phases of a cluster from its import until now, the oldest first. The log has an entry when an agent reports another
 * phase than the one that was shown. Silence has no entry: it begins with the last heartbeat before it, which the next
 * entry tells, or the cluster itself. `isWhole` is false if there are older entries than these.
 */
export function healthSpans(
  newestFirst: readonly PhaseEntry[],
  present: Present,
  now: number,
  isWhole: boolean,
): readonly HealthSpan[] {
  const spans: HealthSpan[] = [];
  const entries = [...newestFirst].reverse();
  let from = isWhole ? Date.parse(present.createdAt) : Date.parse(entries[0]?.at ?? '');
  // Until an agent reports for the first time, a cluster is registered; older phases than the log has are not known.
  let phase: string | undefined;
  const add = (until: number, one: string | undefined) => {
    if (until <= from) return;
    const last = spans.at(-1);
    if (last && last.phase === one) spans[spans.length - 1] = { ...last, until };
    else spans.push({ from, until, phase: one });
    from = until;
  };
  for (const { at, before, after } of entries) {
    const [was, is] = [statusOf(before), statusOf(after)];
    const silentSince = was && SILENT_PHASES.includes(was.phase) ? sinceIn(was.message) : undefined;
    if (silentSince !== undefined) add(Math.min(silentSince, Date.parse(at)), phase);
    add(Date.parse(at), was?.phase ?? phase);
    phase = is?.phase;
  }
  const isSilent = SILENT_PHASES.includes(present.phase);
  if (isSilent) add(Math.min(now, Date.parse(present.heartbeatAt)), phase);
  add(now, present.phase);
  return spans;
}

/** The part of them in the last `ms`. */
export function lastOf(spans: readonly HealthSpan[], now: number, ms: number): readonly HealthSpan[] {
  const begin = now - ms;
  return spans.filter(({ until }) => until > begin).map((span) => ({ ...span, from: Math.max(span.from, begin) }));
}

/** Between 0 and 1: how much of the time that is known the cluster was active. */
export function activeShare(spans: readonly HealthSpan[]): number | undefined {
  const sum = (some: readonly HealthSpan[]) => some.reduce((total, { from, until }) => total + until - from, 0);
  const known = sum(spans.filter(({ phase }) => phase !== undefined));
  return known === 0 ? undefined : sum(spans.filter(({ phase }) => phase === 'Active')) / known;
}

function statusOf(state: unknown): Status | undefined {
  const { phase, message } = (state ?? {}) as Partial<Status>;
  return typeof phase === 'string' ? { phase, message: typeof message === 'string' ? message : '' } : undefined;
}

function sinceIn(message: string): number | undefined {
  const since = Date.parse(/^no heartbeat since (\S+Z)$/.exec(message)?.[1] ?? '');
  return Number.isNaN(since) ? undefined : since;
}
