/** One line of the report. */
export interface Row {
  readonly what: string;
  readonly measured: string;
  readonly budget: string;
  readonly isMet: boolean;
  /** Wall-clock times say more about a busy machine than about the console. They are reported, and fail nothing. */
  readonly isWallClock?: boolean;
}

export const KB = 1024;
export const kb = (bytes: number) => `${(bytes / KB).toFixed(1)} KB`;
export const ms = (value: number) => `${value.toFixed(0)} ms`;

export function atMost(what: string, value: number, limit: number, show: (value: number) => string): Row {
  return { what, measured: show(value), budget: `≤ ${show(limit)}`, isMet: value <= limit };
}
