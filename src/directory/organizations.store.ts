import { isUniqueViolation, type Query, sql } from '../db/db.ts';
import { deleteAccount, lockForRemoval, membersOf } from './account-removal.store.ts';
import type { Actor, AuditEntry } from './audit.ts';
import type { Change, Write } from './clock.ts';
import type { OrganizationDraft, OrganizationStore, OrganizationTraits } from './organizations.ts';
import { ORGANIZATION, type OrganizationRow, toOrganization } from './profile.rows.ts';
import type { OrganizationDetails } from './profile.ts';
import { insertTeam } from './teams.store.ts';

const INSERT = sql(
  'organizations.insert',
  `insert into account (kind, name, full_name, description, website, location, visibility)
   values ('organization', $1, $2, $3, $4, $5, $6) returning id`,
);
const GET = sql(
  'organizations.get',
  `select ${ORGANIZATION} from account o where o.id = $1 and o.kind = 'organization'`,
);
const LOCK = sql(
  'organizations.lock',
  `select id from account where id = $1 and kind = 'organization' for no key update`,
);
const UPDATE = sql(
  'organizations.update',
  `update account set name = $2, full_name = $3, description = $4, website = $5, location = $6, visibility = $7,
          version = version + 1, updated_at = now() where id = $1`,
);
const FOUNDER = sql('organizations.founder', `select id from account where id = $1 and kind = 'user' for key share`);
const INSERT_FOUNDER = sql(
  'organizations.insertFounder',
  'insert into team_member (team_id, account_id) values ($1, $2)',
);

export function createOrganizationStore(write: Write): OrganizationStore {
  return { create, update, remove };

  async function create(...[draft, actor]: Parameters<OrganizationStore['create']>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        const [founder] = await query(FOUNDER, [draft.founderId]);
        if (!founder) return 'no founder';
        const made = await insertOrganization(query, touch, draft);
        const after = { ...toState(draft), founderId: draft.founderId };
        if (actor) record({ ...about(actor, 'organization.create', made.id), after, startsChain: true });
        return made;
      }),
    );
  }

  async function update(...[id, decide, actor]: Parameters<OrganizationStore['update']>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        await query(LOCK, [id]);
        const current = await get(query, id);
        if (!current) return undefined;
        const next = decide(current);
        await query(UPDATE, [id, next.name, ...traitsOf(next)]);
        touch({ kind: 'account', id, organizationId: id });
        record({ ...about(actor, 'organization.update', id), before: toState(current), after: toState(next) });
        return await get(query, id);
      }),
    );
  }

  async function remove(...[id, decide, actor]: Parameters<OrganizationStore['remove']>) {
    return await write(async (query, touch, record) => {
      await lockForRemoval(query, id);
      const current = await get(query, id);
      if (!current) return false;
      decide(current);
      // Whoever was in it is remembered as a member until told otherwise.
      for (const member of await membersOf(query, id)) touch({ kind: 'account', id: member });
      await deleteAccount(query, touch, id);
      record({ ...about(actor, 'organization.delete', id), before: toState(current) });
      return true;
    });
  }
}

/** For transactions that make an organization together with something else. */
export async function insertOrganization(query: Query, touch: (change: Change) => void, draft: OrganizationDraft) {
  const [row] = await query<{ id: bigint }>(INSERT, [draft.name, ...traitsOf(draft)]);
  const id = row?.id ?? 0n;
  const teamIds: bigint[] = [];
  for (const team of draft.teams) teamIds.push(await insertTeam(query, id, team));
  await query(INSERT_FOUNDER, [teamIds[0], draft.founderId]);
  touch({ kind: 'account', id, organizationId: id });
  touch({ kind: 'account', id: draft.founderId });
  for (const team of teamIds) touch({ kind: 'team', id: team, organizationId: id });
  return { id, teamIds };
}

async function get(query: Query, id: bigint): Promise<OrganizationDetails | undefined> {
  const [row] = await query<OrganizationRow>(GET, [id]);
  return row && toOrganization(row);
}

async function unlessNameTaken<T>(work: () => Promise<T>): Promise<T | 'name taken'> {
  try {
    return await work();
  } catch (error) {
    if (isUniqueViolation(error, 'account_name')) return 'name taken';
    throw error;
  }
}

function traitsOf({ fullName, description, website, location, visibility }: OrganizationTraits): string[] {
  return [fullName, description, website, location, visibility];
}

function about(actor: Actor, action: string, id: bigint): AuditEntry {
  return { actor, organizationId: id, action, objectType: 'organization', objectId: id };
}

/** An organization as the audit log shows it. */
function toState({
  name,
  fullName,
  description,
  website,
  location,
  visibility,
}: OrganizationTraits & { name: string }) {
  return { name, fullName, description, website, location, visibility };
}
