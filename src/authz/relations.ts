import type { Person } from '../directory/callers.ts';
import { AppError } from '../errors.ts';
import type { Judge, ObjectRef } from './judge.ts';

interface RelationOf {
  readonly type: 'organization' | 'role';
  readonly relation: string;
  /** Who holds this on the organization may know that a role does not exist. */
  readonly manages?: string;
}

/** The relations that routes ask for: what the specification calls them, and what the model does. */
const RELATIONS: Readonly<Record<string, RelationOf>> = {
  'create_role:org': { type: 'organization', relation: 'can_create_role' },
  'view_members:org': { type: 'organization', relation: 'can_view_members' },
  'view:role': { type: 'role', relation: 'can_view' },
  'viewer:role': { type: 'role', relation: 'viewer' },
  'edit:role': { type: 'role', relation: 'can_edit', manages: 'can_edit_roles' },
  'delete:role': { type: 'role', relation: 'can_delete', manages: 'can_delete_roles' },
};

/** The check comes before the load: who does not hold the relation does not learn whether the object exists. */
export function createRequireRelation(judge: Pick<Judge, 'holds'>, readId: (text: string, what: string) => bigint) {
  return async function requireRelation(
    person: Person,
    organizationId: bigint,
    named: string,
    id?: string,
  ): Promise<void> {
    const wanted = RELATIONS[named];
    if (!wanted) throw new AppError('internal', `no relation is called ${named}`);
    const organization: ObjectRef = { type: 'organization', id: organizationId };
    const object: ObjectRef = wanted.type === 'role' ? { type: 'role', id: readId(id ?? '', 'role ID') } : organization;
    if (await judge.holds(person.id, organizationId, wanted.relation, object)) return;
    const { manages } = wanted;
    const mayKnow =
      person.isAdmin || (manages && (await judge.holds(person.id, organizationId, manages, organization)));
    if (mayKnow) throw new AppError('notFound', `${wanted.type} not found`);
    throw new AppError('forbidden', `missing relation ${named}`);
  };
}
