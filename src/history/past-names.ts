import type { LoggedChange } from './logged-change.ts';

/** Names by object, such as `team:4`. */
export type Known = ReadonlyMap<string, string>;

/** How objects were called last, as far as these entries tell, newest first. Users only if they concern the organization. */
export function namesIn(changes: readonly LoggedChange[]): Known {
  return collected(changes, (names, object, name) => {
    if (!names.has(object)) names.set(object, name);
  });
}

/** How objects were called before all these entries, newest first. */
export function formerNames(changes: readonly LoggedChange[]): Known {
  return collected(
    changes.map((change) => ({ ...change, after: {} })),
    (names, object, name) => names.set(object, name),
  );
}

function collected(
  changes: readonly LoggedChange[],
  note: (names: Map<string, string>, object: string, name: string) => void,
): Known {
  const names = new Map<string, string>();
  for (const { objectType, objectId, before, after } of changes) {
    const name = nameIn(after) ?? nameIn(before);
    if (name !== undefined) note(names, `${objectType}:${objectId}`, name);
    const { userId, username } = after.userId === undefined ? before : after;
    if (typeof userId === 'string' && typeof username === 'string') note(names, `user:${userId}`, username);
  }
  return names;
}

/** Entries about members call the team `team`, and those about users call the user `username`. */
export function nameIn({ name, team, username, userId }: LoggedChange['before']): string | undefined {
  const said = name ?? team ?? (userId === undefined ? username : undefined);
  return typeof said === 'string' && said !== '' ? said : undefined;
}
