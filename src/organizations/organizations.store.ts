import type { Page, PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { type Room, roomFor } from '../changes/room.store.ts';
import type { Change, Once, Write } from '../changes/write.ts';
import { type Db, only, type Query, sql } from '../db/db.ts';
import { likeText } from '../db/like-text.ts';
import { unlessNameTaken } from '../identity/account-names.store.ts';
import { deleteAccount, lockForRemoval, membersOf } from '../users/account-removal.store.ts';
import { ORGANIZATION, type OrganizationRow, toOrganization } from './organization.rows.ts';
import type {
  Organization,
  OrganizationDraft,
  OrganizationFields,
  OrganizationSearch,
  OrganizationStore,
  RenamedOrganization,
} from './organizations.ts';
import { insertTeam } from './teams.store.ts';

const INSERT = sql(
  'organizations.insert',
  `insert into account (kind, name, full_name, description, website, location, visibility, founder_id)
   values ('organization', $1, $2, $3, $4, $5, $6, $7) returning id`,
);
const WHERE = `o.kind = 'organization'`;
const FOUND = `${WHERE} and (o.name_key like $1 or lower(o.full_name) like $1) and (not $2 or not exists (
  select 1 from team t join team_member m on m.team_id = t.id where t.organization_id = o.id and t.permission = 'owner'))`;
const LIST_ALL = sql(
  'organizations.listAll',
  `select ${ORGANIZATION} from account o where ${FOUND} order by o.id offset $3 limit $4`,
);
const COUNT_ALL = sql('organizations.countAll', `select count(*)::integer as total from account o where ${FOUND}`);
const LIST_SOME = sql(
  'organizations.listSome',
  `select ${ORGANIZATION} from account o where ${WHERE} and o.id = any($3::bigint[]) order by o.id offset $1 limit $2`,
);
const GET = sql('organizations.get', `select ${ORGANIZATION} from account o where ${WHERE} and o.id = $1`);
const LOCK = sql(
  'organizations.lock',
  `select id from account where id = $1 and kind = 'organization' for no key update`,
);
const UPDATE = sql(
  'organizations.update',
  `update account set name = $2, full_name = $3, description = $4, website = $5, location = $6, visibility = $7,
          version = version + 1, updated_at = now() where id = $1`,
);
const FORMER_NAMES = sql(
  'organizations.formerNames',
  'select name from reserved_name where account_id = $1 and expires_at > now()',
);
const FOUNDER = sql('organizations.founder', `select id from account where id = $1 and kind = 'user' for key share`);
const ROOM = roomFor('organizations.room', 'account where founder_id = $1');
const INSERT_FOUNDER = sql(
  'organizations.insertFounder',
  'insert into team_member (team_id, account_id) values ($1, $2)',
);

export function createOrganizationStore(db: Db, write: Write, room: Room): OrganizationStore {
  return { listSome, listAll, get: (id) => get(db.query, id), create, update, remove };

  async function listSome(ids: readonly bigint[], { offset, limit }: PageRequest): Promise<Page<Organization>> {
    const rows = await db.query<OrganizationRow>(LIST_SOME, [offset, limit, ids]);
    return { items: rows.map(toOrganization), total: ids.length };
  }

  async function listAll(
    { text, ownerless }: OrganizationSearch,
    { offset, limit }: PageRequest,
  ): Promise<Page<Organization>> {
    const wanted = [likeText(text), ownerless];
    const { total } = only(await db.query<{ total: number }>(COUNT_ALL, wanted));
    const rows = await db.query<OrganizationRow>(LIST_ALL, [...wanted, offset, limit]);
    return { items: rows.map(toOrganization), total };
  }

  async function create(draft: OrganizationDraft, actor?: Actor, once?: Once<Organization>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        const [founder] = await query(FOUNDER, [draft.founderId]);
        if (!founder) return 'no founder';
        await room.require(query, { limit: 'organizationsPerUser', ownerId: draft.founderId, count: ROOM });
        const made = await insertOrganization(query, touch, draft);
        const after = { ...toState(draft), founderId: draft.founderId };
        if (actor) record({ ...about(actor, 'organization.create', made.id), after, startsChain: true });
        const created = once && (await get(query, made.id));
        if (created) keep(created);
        return made;
      }, once),
    );
  }

  async function update(id: bigint, decide: (current: RenamedOrganization) => OrganizationFields, actor: Actor) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record) => {
        await query(LOCK, [id]);
        const current = await get(query, id);
        if (!current) return undefined;
        const formerNames = (await query<{ name: string }>(FORMER_NAMES, [id])).map(({ name }) => name);
        const next = decide({ ...current, formerNames });
        await query(UPDATE, [id, next.name, ...detailsOf(next)]);
        touch({ kind: 'account', id, organizationId: id });
        record({ ...about(actor, 'organization.update', id), before: toState(current), after: toState(next) });
        return await get(query, id);
      }),
    );
  }

  async function remove(id: bigint, decide: (current: Organization) => void, actor: Actor) {
    return await write(async (query, touch, record) => {
      await lockForRemoval(query, id);
      const current = await get(query, id);
      if (!current) return false;
      decide(current);
      // Its members are remembered as members until their accounts are touched.
      for (const member of await membersOf(query, id)) touch({ kind: 'account', id: member });
      await deleteAccount(query, touch, id);
      record({ ...about(actor, 'organization.delete', id), before: toState(current) });
      return true;
    });
  }
}

/** For transactions that create an organization together with something else. */
export async function insertOrganization(query: Query, touch: (change: Change) => void, draft: OrganizationDraft) {
  const { id } = only(await query<{ id: bigint }>(INSERT, [draft.name, ...detailsOf(draft), draft.founderId]));
  const teamIds: bigint[] = [];
  for (const team of draft.teams) teamIds.push(await insertTeam(query, id, team));
  await query(INSERT_FOUNDER, [teamIds[0], draft.founderId]);
  touch({ kind: 'account', id, organizationId: id });
  touch({ kind: 'account', id: draft.founderId });
  for (const team of teamIds) touch({ kind: 'team', id: team, organizationId: id });
  return { id, teamIds };
}

async function get(query: Query, id: bigint): Promise<Organization | undefined> {
  const [row] = await query<OrganizationRow>(GET, [id]);
  return row && toOrganization(row);
}

function detailsOf({ fullName, description, website, location, visibility }: OrganizationFields): string[] {
  return [fullName, description, website, location, visibility];
}

function about(actor: Actor, action: AuditAction, id: bigint): AuditEntry {
  return { actor, organizationId: id, action, objectType: 'organization', objectId: id };
}

/** An organization as the audit log shows it. */
function toState({ name, fullName, description, website, location, visibility }: OrganizationFields) {
  return { name, fullName, description, website, location, visibility };
}
