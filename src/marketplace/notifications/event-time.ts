/** A point in time as sortable text: UTC, always nine fractional digits, `2026-03-02T10:00:00.123456700Z`. */
export type EventTime = string;

const SHAPE = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(?:([Zz])|([+-])(\d\d):?(\d\d))$/;
const MINUTE_MS = 60_000;

/**
 * Reads RFC 3339 with up to nine fractional digits, of which Date would keep three. Returns undefined if the text is
 * not valid.
 */
export function readEventTime(text: string): EventTime | undefined {
  const match = SHAPE.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', , sign, offsetHours = '0', offsetMinutes = '0'] =
    match;
  const wall = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  const moment = new Date(`${wall}Z`);
  // Date rolls the 31st of February over into March instead of rejecting it.
  if (Number.isNaN(moment.getTime()) || moment.toISOString().slice(0, 19) !== wall) return undefined;
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined;
  const offset = (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const utc = new Date(moment.getTime() - offset * MINUTE_MS).toISOString();
  if (!/^\d{4}-/.test(utc)) return undefined;
  return `${utc.slice(0, 19)}.${fraction.slice(0, 9).padEnd(9, '0')}Z`;
}

export function eventTimeOf(moment: Date): EventTime {
  return `${moment.toISOString().slice(0, 23)}000000Z`;
}

/** Without the zeros that only make it sortable. */
export function shortEventTime(time: EventTime): string {
  return time.replace(/\.?0*Z$/, 'Z');
}
