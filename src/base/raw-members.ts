/**
 * The members of a JSON object, each as the text that it has there: a number beyond 2^53 or an unusual escape would not
 * survive being parsed. Throws a SyntaxError if it is not one.
 */
export function rawMembers(json: string): ReadonlyMap<string, string> {
  JSON.parse(json);
  const members = new Map<string, string>();
  let place = skipSpace(json, 0);
  if (json[place] !== '{') throw new SyntaxError('not a JSON object');
  place = skipSpace(json, place + 1);
  while (json[place] !== '}') {
    const nameEnd = endOfValue(json, place);
    const start = skipSpace(json, skipSpace(json, nameEnd) + 1);
    const end = endOfValue(json, start);
    members.set(JSON.parse(json.slice(place, nameEnd)) as string, json.slice(start, end));
    place = skipSpace(json, end);
    if (json[place] === ',') place = skipSpace(json, place + 1);
  }
  return members;
}

/** The place after the value that starts here. The text is known to be valid JSON. */
function endOfValue(json: string, start: number): number {
  let depth = 0;
  for (let place = start; place < json.length; place++) {
    const character = json[place];
    if (character === '"') {
      do place = json.indexOf('"', place + 1);
      while (isEscaped(json, place));
      if (depth === 0) return place + 1;
    } else if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') {
      if (depth === 0) return place;
      depth--;
      if (depth === 0) return place + 1;
    } else if (depth === 0 && (character === ',' || isSpace(character))) return place;
  }
  return json.length;
}

function isEscaped(json: string, quote: number): boolean {
  let slashes = 0;
  while (json[quote - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

function skipSpace(json: string, start: number): number {
  let place = start;
  while (isSpace(json[place])) place++;
  return place;
}

function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t' || character === '\n' || character === '\r';
}
