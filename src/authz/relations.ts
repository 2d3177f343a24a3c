import { AppError, type KeptFrom, missingRelation } from '../base/errors.ts';
import type { Reason } from '../base/reasons.ts';
import type { OwnedType } from '../changes/object-kinds.ts';
import type { Person } from '../identity/callers.ts';
import type { Judge } from './judge.ts';
import type { ObjectRef } from './object-ref.ts';
import type { NoteUse } from './uses/access-uses.ts';

interface RelationOf {
  readonly type: 'organization' | 'role' | OwnedType;
  readonly relation: string;
  /** Callers who hold this on the organization may know that a role does not exist. */
  readonly manages?: string;
  /** It opens a list, which callers who hold this on at least one object get as well, with what they may view. */
  readonly some?: { readonly type: OwnedType; readonly relation: string };
  /** What the specification calls it, if that is another name. */
  readonly says?: string;
  /** Callers with this relation lack the other one only for a while, and the message says why. */
  readonly whileKept?: { readonly relation: string; readonly say: string; readonly reason: Reason };
}

const NOT_FOUND: Readonly<Record<RelationOf['type'], Reason>> = {
  organization: 'organization_not_found',
  role: 'role_not_found',
  team: 'team_not_found',
  cluster: 'cluster_not_found',
  contract: 'contract_not_found',
  robot_ac: 'robot_not_found',
};
const LAST_OWNER = 'the last owner of an organization cannot leave';
const organization = (relation: string): RelationOf => ({ type: 'organization', relation });
const on = (type: OwnedType, relation: string): RelationOf => ({ type, relation });

/** The relations that routes require: their names in the specification, and in the model. */
const RELATIONS: Readonly<Record<string, RelationOf>> = {
  'view:org': organization('can_view'),
  'edit:org': organization('can_edit'),
  'delete:org': organization('can_delete'),
  'owner:org': { ...organization('owner'), says: 'owner' },
  'view_members:org': organization('can_view_members'),
  'add_member:org': organization('can_add_member'),
  'remove_member:org': organization('can_remove_member'),
  // Every member views their own teams, and not therefore the list.
  'view_teams:org': { ...organization('can_view_teams'), some: { type: 'team', relation: 'assigned_viewer' } },
  'create_team:org': organization('can_create_team'),
  'view_roles:org': organization('can_view_roles'),
  'create_role:org': organization('can_create_role'),
  'edit_roles:org': organization('can_edit_roles'),
  'assign_roles:org': organization('assigner'),
  'view_audit_log:org': organization('can_view_audit_log'),
  'view_clusters:org': { ...organization('can_view_clusters'), some: { type: 'cluster', relation: 'can_view' } },
  'import_clusters:org': organization('can_import_clusters'),
  'view_contracts:org': { ...organization('can_view_contracts'), some: { type: 'contract', relation: 'can_view' } },
  'create_contracts:org': organization('can_create_contracts'),
  'view_robots:org': { ...organization('can_view_robots'), some: { type: 'robot_ac', relation: 'can_view' } },
  'view_all_robots:org': { ...organization('can_view_robots'), says: 'view_robots:org' },
  'create_robots:org': organization('can_create_robots'),
  'view:role': { type: 'role', relation: 'can_view' },
  'viewer:role': { type: 'role', relation: 'viewer' },
  'edit:role': { type: 'role', relation: 'can_edit', manages: 'can_edit_roles' },
  'delete:role': { type: 'role', relation: 'can_delete', manages: 'can_delete_roles' },
  'view:team': on('team', 'can_view'),
  'edit:team': on('team', 'can_edit'),
  'delete:team': on('team', 'remover'),
  'add_member:team': on('team', 'can_add_member'),
  'remove_member:team': {
    type: 'team',
    relation: 'can_remove_member',
    // Who adds members removes them, too, except the last owner.
    whileKept: { relation: 'can_add_member', say: LAST_OWNER, reason: 'last_owner' },
  },
  'view:cluster': on('cluster', 'can_view'),
  'edit:cluster': on('cluster', 'can_edit'),
  'remove:cluster': on('cluster', 'can_remove'),
  'review:cluster': on('cluster', 'can_review'),
  'view:contract': on('contract', 'can_view'),
  'edit:contract': on('contract', 'can_edit'),
  'delete:contract': on('contract', 'can_delete'),
  'view:robot_ac': on('robot_ac', 'can_view'),
  'edit:robot_ac': on('robot_ac', 'can_edit'),
  'delete:robot_ac': on('robot_ac', 'can_delete'),
};

export interface OwnerStore {
  ownerOf(type: OwnedType, id: bigint): Promise<bigint | undefined>;
}

/** Whether the caller could ask for a relation on an object that they may see, from what costs little to know. */
export type MayBeAsked = (question: {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  readonly relation: string;
  readonly object: Pick<KeptFrom, 'type' | 'id'>;
}) => Promise<boolean>;

type ReadId = (text: string, what: string) => bigint;

/** The check comes before the load: callers who do not hold the relation do not learn whether the object exists. */
export function createRelations(
  judge: Pick<Judge, 'holds' | 'objects'>,
  store: OwnerStore,
  readId: ReadId,
  noteUse: NoteUse = () => undefined,
) {
  let mayBeAsked: MayBeAsked = async () => false;
  return { require, requireOn, ownerOf, tellRequestable, noteMember };

  function noteMember(personId: bigint, organizationId: bigint): void {
    noteUse(personId, organizationId, 'can_view', 'organization', organizationId);
  }

  /** Who may ask for what is known further up. It is asked only after a rejection. */
  function tellRequestable(ask: MayBeAsked): void {
    mayBeAsked = ask;
  }

  async function lacking(person: Person, wanted: RelationOf, says: string, object: KeptFrom): Promise<AppError> {
    const error = missingRelation(says, '', object);
    const { ownerId: organizationId, type, id } = object;
    const question = { organizationId, callerId: person.id, relation: wanted.relation, object: { type, id } };
    if (!(await mayBeAsked(question))) return error;
    return new AppError(error.kind, error.message, { ...error.detail, requestable: true });
  }

  async function require(person: Person, organizationId: bigint, named: string, id?: string): Promise<void> {
    const wanted = relationNamed(named);
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    const object: ObjectRef = wanted.type === 'role' ? { type: 'role', id: readId(id ?? '', 'role ID') } : organization;
    if (await judge.holds(person.id, organizationId, wanted.relation, object)) return;
    const { manages, some, says = named } = wanted;
    if (some && (await judge.objects(person.id, organizationId, some.relation, some.type, 1)).length > 0) return;
    const mayKnow =
      person.isAdmin || (manages && (await judge.holds(person.id, organizationId, manages, organization)));
    if (mayKnow) throw new AppError('notFound', `${wanted.type} not found`, { reason: NOT_FOUND[wanted.type] });
    throw await lacking(person, wanted, says, { ownerId: organizationId, ...object });
  }

  async function requireOn(
    person: Person,
    named: string,
    id: string,
    isReached: (object: KeptFrom) => boolean = () => true,
  ): Promise<bigint> {
    const wanted = relationNamed(named);
    const { type, relation, whileKept } = wanted;
    const ownerId = await ownerOf(named, id);
    if (ownerId === undefined) throw noSuch(type);
    const object: ObjectRef = { type, id: readId(id, `${type} ID`) };
    const keptFrom = { ownerId, ...object };
    if (!isReached(keptFrom)) throw noSuch(type, keptFrom);
    if (await judge.holds(person.id, ownerId, relation, object)) return ownerId;
    if (!(await judge.holds(person.id, ownerId, 'can_view', object))) {
      throw noSuch(type, keptFrom);
    }
    if (whileKept && (await judge.holds(person.id, ownerId, whileKept.relation, object))) {
      throw new AppError('conflict', whileKept.say, { reason: whileKept.reason });
    }
    throw await lacking(person, wanted, named, keptFrom);
  }

  async function ownerOf(named: string, id: string): Promise<bigint | undefined> {
    const { type } = relationNamed(named);
    if (type === 'organization' || type === 'role') throw new AppError('internal', `${named} is not about an object`);
    return await store.ownerOf(type, readId(id, `${type} ID`));
  }
}

/** The same for an object that the caller may not see, `keptFrom`, as for one that does not exist. */
function noSuch(type: RelationOf['type'], keptFrom?: KeptFrom): AppError {
  return new AppError('notFound', `${type} does not exist`, { reason: NOT_FOUND[type], ...(keptFrom && { keptFrom }) });
}

function relationNamed(named: string): RelationOf {
  const found = RELATIONS[named];
  if (!found) throw new AppError('internal', `no relation is called ${named}`);
  return found;
}
