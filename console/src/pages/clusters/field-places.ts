/** Clusters of one phase, which follow each other in the field. */
export interface FieldPart {
  readonly phase: string;
  readonly count: number;
}

/** A cluster of the field: its phase, and which one of that phase it is by name, starting at 1. */
export interface FieldPlace {
  readonly phase: string;
  readonly rank: number;
}

/** The worst first, because that is what people look for. */
const ORDER = ['Lost', 'NotConnected', 'NotReady', 'Inactive', 'NotImported', 'Registered', 'Active'];
/** How much wider than high the field is. */
const RATIO = 6;
const LEAST_COLUMNS = 40;
const DOT = 0.8;

export function partsOf(byPhase: Readonly<Record<string, number | undefined>>): readonly FieldPart[] {
  const phases = [...ORDER, ...Object.keys(byPhase).filter((phase) => !ORDER.includes(phase))];
  return phases.map((phase) => ({ phase, count: byPhase[phase] ?? 0 })).filter(({ count }) => count > 0);
}

export function totalOf(parts: readonly FieldPart[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

export function columnsOf(total: number): number {
  return Math.max(LEAST_COLUMNS, Math.ceil(Math.sqrt(total * RATIO)));
}

/** Which cluster has this place in the field, counted from 0. */
export function placeAt(parts: readonly FieldPart[], place: number): FieldPlace | undefined {
  let first = 0;
  for (const { phase, count } of parts) {
    if (place < first + count) return { phase, rank: place - first + 1 };
    first += count;
  }
  return undefined;
}

/** All dots of a part as one path, so that ten thousand of them are few elements. */
export function dotsOf(first: number, count: number, columns: number): string {
  const path: string[] = [];
  for (let place = first; place < first + count; place++) path.push(dotAt(place, columns));
  return path.join('');
}

export function dotAt(place: number, columns: number): string {
  return `M${place % columns} ${Math.floor(place / columns)}h${DOT}v${DOT}h-${DOT}z`;
}
