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
    const state = (value: unknown) => (value === null ? null : JSON.stringify(value));
    const said = [
      line.at,
      String(line.organization_id),
      String(line.actor.id),
      line.actor.name,
      line.action,
      line.object.type,
      String(line.object.id),
      state(line.before),
      state(line.after),
      line.request_id,
      line.previous_hash,
      ...(line.on_behalf_of ? [String(line.on_behalf_of.id), line.on_behalf_of.name] : []),
    ];
    const hash = createHash('sha256')
      .update(Buffer.from(line.previous_hash, 'hex'))
      .update(JSON.stringify(said))
      .digest('hex');
    const follows = line.previous_hash === previous && line.hash === hash;
    previous = line.hash;
    return follows ? [] : [line.id];
  });
}
