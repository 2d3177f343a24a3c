import { createHash } from 'node:crypto';

/** A line of an exported audit log. */
export interface Line {
  readonly id: number;
  readonly at: string;
  readonly organization_id: number;
  readonly actor: { readonly id: number; readonly name: string };
  readonly on_behalf_of?: { readonly id: number; readonly name: string };
  readonly action: string;
  readonly object: { readonly type: string; readonly id: number };
  readonly before: unknown;
  readonly after: unknown;
  readonly request_id: string;
  readonly previous_hash: string;
  readonly hash: string;
  readonly hashed?: Hashed;
  readonly texts?: readonly Text[];
}

interface Hashed {
  readonly actor?: string;
  readonly on_behalf_of?: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
}

/** What a reader can do with only the export and its documentation: find the entries that do not follow. */
export function chainFaults(text: string): number[] {
  let previous = '0'.repeat(64);
  return linesOf(text).flatMap((line) => {
    const { hashed = {}, texts = [] } = line;
    const state = (value: unknown) => (value === null ? null : JSON.stringify(value));
    const said = [
      line.at,
      String(line.organization_id),
      String(line.actor.id),
      hashed.actor ?? line.actor.name,
      line.action,
      line.object.type,
      String(line.object.id),
      state(hashed.before ?? line.before),
      state(hashed.after ?? line.after),
      line.request_id,
      line.previous_hash,
      ...(line.on_behalf_of ? [String(line.on_behalf_of.id), hashed.on_behalf_of ?? line.on_behalf_of.name] : []),
    ];
    const hash = createHash('sha256')
      .update(Buffer.from(line.previous_hash, 'hex'))
      .update(JSON.stringify(said))
      .digest('hex');
    const follows = line.previous_hash === previous && line.hash === hash && isShownAsHashed(line, hashed, texts);
    previous = line.hash;
    return follows ? [] : [line.id];
  });
}

interface Text {
  readonly sha256: string;
  readonly user: number;
  readonly salt?: string;
  readonly text?: string;
}

/** What is shown is what is hashed, with the texts in place of their hashes. */
function isShownAsHashed(line: Line, hashed: Hashed, texts: readonly Text[]): boolean {
  const shown = new Map(texts.map(({ sha256, user, text }) => [sha256, text ?? `erased user ${user}`]));
  const reveal = (value: unknown) =>
    JSON.stringify(value).replace(
      /"sha256:([0-9a-f]{64})"/g,
      (whole, hash) => JSON.stringify(shown.get(hash)) ?? whole,
    );
  const isTold = (instead: unknown, told: unknown) => instead === undefined || reveal(instead) === JSON.stringify(told);
  const { actor, on_behalf_of: behalf, before, after } = line;
  return (
    texts.every(({ sha256, salt, text }) => text === undefined || sha256 === sha256Of(salt ?? '', text)) &&
    isTold(hashed.actor, actor.name) &&
    isTold(hashed.on_behalf_of, behalf?.name) &&
    isTold(hashed.before, before) &&
    isTold(hashed.after, after)
  );
}

function sha256Of(salt: string, text: string): string {
  return createHash('sha256').update(Buffer.from(salt, 'hex')).update(text).digest('hex');
}
