import type { Judge } from '../../authz/judge.ts';
import { kindOf } from '../../changes/object-kinds.ts';
import type { AuditRow } from '../audit.ts';
import { robotIn } from './robot-actor.ts';

/** Who reads the log, which decides whose names they see. */
export type Reader =
  | { readonly sees: 'everything' }
  | { readonly sees: 'organization'; readonly organizationId: bigint; readonly callerId: bigint }
  | { readonly sees: 'own'; readonly callerId: bigint };

/** An object that entries of one chain are about. */
export interface NamedObject {
  readonly chainId: bigint;
  readonly type: string;
  readonly id: bigint;
}

export interface ObjectNameStore {
  /** The present names by `type:id`. With an owner, only of what this account owns, its members and itself. */
  present(objects: readonly NamedObject[], ownerId: bigint | undefined): Promise<ReadonlyMap<string, string>>;
  /** The last names that entries of the same chain tell, by `chain type:id`. */
  told(objects: readonly NamedObject[]): Promise<ReadonlyMap<string, string>>;
}

export type ObjectNames = ReturnType<typeof createObjectNames>;
export type NameOf = (about: Pick<AuditRow, 'organizationId' | 'object'>) => string | undefined;

/** How many names an export remembers before it starts over. */
const MAX_TOLD = 20_000;

/**
 * How the objects of entries are called: by their present name if the reader may see the object, else as the log itself
 * called them last. That is no news to a user who may read the log, so a name never tells more than before.
 */
export function createObjectNames(store: ObjectNameStore, judge: Pick<Judge, 'allowed'>) {
  return (reader: Reader) => {
    const told = createToldNames(store);
    return async (rows: readonly AuditRow[]): Promise<NameOf> => {
      const objects = objectsOf(rows);
      if (objects.length === 0) return () => undefined;
      const shown = await visible(objects, reader);
      const present = shown.length === 0 ? new Map<string, string>() : await store.present(shown, ownerOf(reader));
      const toldName = await told(objects.filter((object) => !present.has(keyOf(object))));
      return ({ organizationId, object }) =>
        present.get(keyOf(object)) ?? toldName.get(keyInChain({ ...object, chainId: organizationId }));
    };
  };

  /** A reader of an organization's log sees the present names of the objects that they may see all of. */
  async function visible(objects: readonly NamedObject[], reader: Reader): Promise<readonly NamedObject[]> {
    if (reader.sees !== 'organization') return objects;
    const { organizationId, callerId } = reader;
    const [held = []] = await judge.allowed(callerId, organizationId, [{ type: 'organization', id: organizationId }]);
    return objects.filter(({ type }) => held.includes(kindOf(type)?.viewAll ?? ''));
  }
}

/** Asks about each object once: an export has many pages about the same ones. */
function createToldNames(store: Pick<ObjectNameStore, 'told'>) {
  const known = new Map<string, string | undefined>();
  return async (objects: readonly NamedObject[]): Promise<ReadonlyMap<string, string | undefined>> => {
    if (known.size > MAX_TOLD) known.clear();
    const unknown = objects.filter((object) => !known.has(keyInChain(object)));
    if (unknown.length === 0) return known;
    const found = await store.told(unknown);
    for (const object of unknown) known.set(keyInChain(object), found.get(keyInChain(object)));
    return known;
  };
}

function ownerOf(reader: Reader): bigint | undefined {
  if (reader.sees === 'everything') return undefined;
  return reader.sees === 'own' ? reader.callerId : reader.organizationId;
}

/** Each once. Entries about the deployment itself have no object. */
function objectsOf(rows: readonly AuditRow[]): NamedObject[] {
  const found = new Map<string, NamedObject>();
  const add = (chainId: bigint, object: AuditRow['object']) => {
    if (object.id !== 0n) found.set(`${chainId} ${keyOf(object)}`, { chainId, ...object });
  };
  for (const { organizationId, object, actor } of rows) {
    const robot = robotIn(actor.name);
    add(organizationId, object);
    if (robot) add(organizationId, { type: 'robot_ac', id: robot.id });
  }
  return [...found.values()];
}

function keyInChain(object: NamedObject): string {
  return `${object.chainId} ${keyOf(object)}`;
}

function keyOf({ type, id }: { readonly type: string; readonly id: bigint }): string {
  return `${type}:${id}`;
}
