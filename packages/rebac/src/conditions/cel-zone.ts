import { secondsOf } from './cel-time.ts';
import type { Timestamp } from './cel-values.ts';

const MAX_ZONES = 64;
const formats = new Map<string, Intl.DateTimeFormat>();
let names: ReadonlySet<string> | undefined;

/** How many seconds east of UTC a zone is at that time: `Europe/Berlin`, or `-02:30`. `undefined` if unknown. */
export function zoneOffset(zone: string, time: Timestamp): number | undefined {
  if (zone === '' || zone === 'UTC') return 0;
  return zone.includes(':') ? fixedOffset(zone) : namedOffset(zone, time);
}

/** Both parts may have a sign; the minutes count in the direction of the first character. */
function fixedOffset(zone: string): number | undefined {
  const match = /^([+-]?\d{1,6}):([+-]?\d{1,6})$/.exec(zone);
  if (match === null) return;
  const [hours, minutes] = [Number(match[1]), Number(match[2])];
  return 60 * (hours * 60 + (zone.startsWith('-') ? -minutes : minutes));
}

/**
 * Only the names that the runtime lists: it would also accept other spellings of them, which a server that looks for a
 * file of that name does not find.
 */
function namedOffset(zone: string, time: Timestamp): number | undefined {
  names ??= new Set(Intl.supportedValuesOf('timeZone'));
  if (!names.has(zone)) return;
  let format = formats.get(zone);
  if (format === undefined) {
    if (formats.size >= MAX_ZONES) formats.clear();
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(zone, format);
  }
  const parts = format.formatToParts(Number(secondsOf(time)) * 1000);
  const text = parts.find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text);
  if (match === null) return;
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = match;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds));
}
