import { readCursor, writeCursor } from '../base/cursor.ts';
import { AppError } from '../base/errors.ts';
import { historySubject, isWord, type ResourceName, readHistorySubject } from './subjects.ts';

export interface HistoryQuestion extends Partial<ResourceName> {
  /** The UID of the cluster. */
  readonly cluster: string;
  /** Only what was reported since then. */
  readonly since?: Date | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface HistoryValue {
  readonly resource: string;
  readonly resourceID: string;
  readonly licenseID: string;
  readonly version: string;
  readonly timestamp: Date;
}

export interface HistoryItem {
  readonly key: string;
  /** Oldest first. */
  readonly values: readonly HistoryValue[];
  readonly lastSeen: Date;
}

export interface HistoryPage {
  readonly items: readonly HistoryItem[];
  /** Where the next page begins; undefined on the last page. */
  readonly cursor: string | undefined;
}

export interface Report {
  readonly text: string;
  readonly at: Date;
}

export interface HistoryStream {
  /** Matching subjects that have reports, with the number of reports. */
  subjects(filter: string): Promise<ReadonlyMap<string, number>>;
  /** The reports on one subject, oldest first. */
  reports(subject: string): Promise<readonly Report[]>;
}

export type History = ReturnType<typeof createHistory>;

export const MAX_ITEMS = 1000;
/** A page ends early rather than make a caller wait or fill the memory. */
const MAX_REPORTS = 10_000;
const ENOUGH_MS = 1000;
const AT_ONCE = 100;

/**
 * What clusters reported about their resources: one item per resource, read page by page in the order of the subjects.
 */
export function createHistory(stream: HistoryStream) {
  return { list };

  async function list(question: HistoryQuestion): Promise<HistoryPage> {
    if (!isWord(question.cluster)) throw new AppError('invalid', 'cluster must be the UID of a cluster');
    const start = question.cursor
      ? readCursor(question.cursor, (text) => (readHistorySubject(text) ? text : undefined))
      : '';
    const limit = Math.min(question.limit || MAX_ITEMS, MAX_ITEMS);
    const counts = await stream.subjects(historySubject(question.cluster, question));
    const waiting = [...counts.keys()].filter((subject) => subject > start).sort();
    const items: HistoryItem[] = [];
    const begun = performance.now();
    let reports = 0;
    let next = 0;
    while (
      next < waiting.length &&
      items.length < limit &&
      reports < MAX_REPORTS &&
      performance.now() - begun < ENOUGH_MS
    ) {
      const some = waiting.slice(next, next + Math.min(AT_ONCE, limit - items.length));
      const found = await Promise.all(some.map((subject) => readItem(subject, question.since)));
      for (const subject of some) reports += counts.get(subject) ?? 0;
      items.push(...found.filter((item) => item !== undefined));
      next += some.length;
    }
    return { items, cursor: next < waiting.length ? writeCursor(waiting[next - 1] ?? start) : undefined };
  }

  async function readItem(subject: string, since: Date | undefined): Promise<HistoryItem | undefined> {
    const name = readHistorySubject(subject);
    if (!name) return undefined;
    const reports = (await stream.reports(subject)).filter(({ at }) => !since || at >= since);
    const values = reports.flatMap((report) => readValue(report, name) ?? []);
    const lastSeen = reports.at(-1)?.at;
    if (values.length === 0 || !lastSeen) return undefined;
    return { key: `${name.group || 'core'}/${name.resource}/${name.rid}`, values, lastSeen };
  }
}

/** The input comes from outside: an invalid report is skipped. */
function readValue({ text, at }: Report, name: ResourceName): HistoryValue | undefined {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return undefined;
  const fields = said as Readonly<Record<string, unknown>>;
  const word = (key: string, otherwise = '') => (typeof fields[key] === 'string' ? fields[key] : otherwise);
  const moment = new Date(word('timestamp'));
  return {
    resource: word('resource', name.resource),
    resourceID: word('resourceID', name.rid),
    licenseID: word('licenseID'),
    version: word('version'),
    timestamp: Number.isNaN(moment.getTime()) ? at : moment,
  };
}
