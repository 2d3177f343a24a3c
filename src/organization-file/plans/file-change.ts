import { AppError, type ErrorKind, type FieldFault, reasonOf } from '../../base/errors.ts';
import type { Reason } from '../../base/reasons.ts';
import type { SectionName } from '../organization-document.ts';
import { rejection } from '../organization-document.ts';

export type ChangeKind = 'create' | 'update' | 'delete';

/** One thing that the file changes. */
export interface FileChange {
  readonly section: SectionName;
  readonly name: string;
  readonly kind: ChangeKind;
  readonly words: readonly string[];
  /** Throws what the call of its own would reject the change for. */
  readonly rule: () => void | Promise<void>;
}

/** Why a change would be rejected. */
export interface Refusal {
  readonly section: SectionName;
  readonly name: string;
  readonly kind: ErrorKind;
  readonly reason: Reason;
  readonly message: string;
  readonly error: AppError;
}

/** Every change by its own rule, and why it would be rejected. */
export async function refusalsOf(changes: readonly FileChange[]): Promise<Refusal[]> {
  const refusals: Refusal[] = [];
  for (const { section, name, rule } of changes) {
    try {
      await rule();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusals.push({ section, name, kind: error.kind, reason: reasonOf(error), message: error.message, error });
    }
  }
  return refusals;
}

/** Collects what is wrong with a file that could be read. */
export function createFaults() {
  const found: (FieldFault & { readonly reason?: Reason })[] = [];
  return {
    add: (field: string, message: string, reason?: Reason) =>
      found.push({ field, message: `${field}: ${message}`, ...(reason && { reason }) }),
    /** Throws them. */
    settle(): void {
      const [first] = found;
      if (!first) return;
      const { kind, message, detail } = rejection(
        found.slice(0, 20).map(({ field, message: said }) => ({ field, message: said })),
      );
      throw new AppError(kind, message, { ...detail, ...(first.reason && { reason: first.reason }) });
    },
  };
}

export type Faults = ReturnType<typeof createFaults>;

/** The entries of a section next to what they are about, matched by name without case, or by their former name. */
export function matchNames<
  Entry extends { readonly name: string; readonly was?: string | undefined },
  Stored extends { readonly name: string },
>(
  section: string,
  entries: readonly Entry[],
  stored: readonly Stored[],
  faults: Faults,
  keyOf: (name: string) => string = (name) => name.toLowerCase(),
): {
  readonly pairs: { readonly entry: Entry; readonly place: number; readonly current: Stored | undefined }[];
  readonly others: Stored[];
} {
  const known = new Map(stored.map((one) => [keyOf(one.name), one]));
  const seen = new Map<string, number>();
  const taken = new Set<Stored>();
  const pairs = entries.map((entry, place) => {
    const key = keyOf(entry.name);
    const first = seen.get(key);
    if (first !== undefined) faults.add(`${section}[${place}].name`, `the same name as ${section}[${first}]`);
    seen.set(key, place);
    const [current, former] = [known.get(key), entry.was === undefined ? undefined : known.get(keyOf(entry.was))];
    if (current && former && current !== former) {
      faults.add(
        `${section}[${place}].was`,
        `both ${JSON.stringify(entry.name)} and ${JSON.stringify(entry.was)} exist`,
      );
    }
    const found = current ?? former;
    if (found) taken.add(found);
    return { entry, place, current: found };
  });
  return { pairs, others: stored.filter((one) => !taken.has(one)) };
}

export function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}
