import type { Answer } from '../server/server.ts';

/** Headers that differ between any two requests. */
const OWN_TO_EACH = new Set(['date', 'x-request-id', 'content-length', 'set-cookie']);
/** Members whose values are random, or are the time. */
const RANDOM_MEMBERS =
  'sha1|token_last_eight|age|hash|previous_hash|request_id|credentials|uid|jwt|seed|device_code|user_code|' +
  'verification_uri_complete|secret|enrollment|uri|challenge';
const RANDOM = new RegExp(`"(${RANDOM_MEMBERS})":("[^"]*"|null)`, 'g');
/** As text, or in seconds since 1970. */
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|(?<=:)1[789]\d{8}\b/g;

/**
 * What tells two answers apart, in words; undefined if they are alike. Each answer comes with the texts that only its
 * own request contained. They must be long and unmistakable, because they are replaced wherever they occur. `created`
 * matches IDs of what the requests created.
 */
export function difference(
  [one, ownOne]: readonly [Answer, readonly string[]],
  [other, ownOther]: readonly [Answer, readonly string[]],
  created: RegExp,
): string | undefined {
  if (one.status !== other.status) return `status: ${one.status} ${one.text} and ${other.status} ${other.text}`;
  const names = new Set([...one.headers.keys(), ...other.headers.keys()]);
  for (const name of names) {
    if (OWN_TO_EACH.has(name)) continue;
    const values = [header(one, name, ownOne), header(other, name, ownOther)];
    if (values[0] !== values[1]) return `header ${name}: ${JSON.stringify(values)}`;
  }
  const [text, otherText] = [plain(one.text, ownOne), plain(other.text, ownOther)];
  if (text === otherText) return undefined;
  let place = 0;
  while (text[place] === otherText[place]) place += 1;
  const part = (all: string) => JSON.stringify(all.slice(Math.max(0, place - 40), place + 80));
  return `body, from character ${place} on: ${part(text)} and ${part(otherText)}`;

  function header(answer: Answer, name: string, own: readonly string[]): string {
    const value = answer.headers.get(name);
    if (name === 'etag') return value === null ? 'none' : 'some';
    return value === null ? 'none' : plain(value, own);
  }

  function plain(text: string, own: readonly string[]): string {
    const longestFirst = [...own, ...own.map(encodeURIComponent)].sort((a, b) => b.length - a.length);
    const named = longestFirst.reduce((rest, value) => rest.replaceAll(value, '‹named›'), text);
    return named.replace(RANDOM, '"$1":‹random›').replace(TIME, '‹time›').replace(created, '‹created›');
  }
}
