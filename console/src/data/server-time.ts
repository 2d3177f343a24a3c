/** The header has whole seconds, and the answer takes a moment. */
const TOLERANCE_MS = 5000;

let offset = 0;

/** Clocks of computers differ. Ages and remaining lifetimes are those of the server. */
export function noteServerTime(date: string | null): void {
  const difference = Date.parse(date ?? '') - Date.now();
  if (!Number.isNaN(difference)) offset = Math.abs(difference) < TOLERANCE_MS ? 0 : difference;
}

export function serverNow(): number {
  return Date.now() + offset;
}
