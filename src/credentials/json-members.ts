/** A member of a JSON object, exactly as it was written. */
export interface Member {
  readonly key: string;
  /** `"key": value`, without surrounding whitespace or commas. */
  readonly text: string;
}

const BACKSLASH = '\\';

/**
 * The members of an object in the order in which they were written. Parsing and serializing would sort keys that look
 * like numbers and round long numbers, so members are cut out of the text instead. The text must be a JSON object.
 */
export function membersOf(text: string): Member[] {
  const members: Member[] = [];
  let depth = 0;
  let start = 0;
  let colon = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') {
      for (at++; text[at] !== '"'; at++) if (text[at] === BACKSLASH) at++;
    } else if (char === '{' || char === '[') {
      if (++depth === 1) start = at + 1;
    } else if (char === ':' && depth === 1) {
      if (colon < start) colon = at;
    } else if ((char === ',' && depth === 1) || char === '}' || char === ']') {
      if (depth === 1 && colon > start) {
        members.push({ key: JSON.parse(text.slice(start, colon)), text: text.slice(start, at).trim() });
      }
      if (char === ',') start = at + 1;
      else depth--;
    }
  }
  return members;
}

export function objectOf(members: readonly Member[]): string {
  return `{${members.map((member) => member.text).join(',')}}`;
}
