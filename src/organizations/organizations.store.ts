import type { Page, PageRequest } from '../base/page.ts';
import type { AuditAction } from '../changes/audit-actions.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import { countTaken, type Quotas } from '../changes/quotas.store.ts';
import type { Change, Once, Write } from '../changes/write.ts';
import { type Db, known, only, type Query, type Statement, sql, type TransactionQuery } from '../db/db.ts';
import { unlessNameTaken } from '../identity/account-names/account-names.store.ts';
import { startOfPage } from '../users/account-counts.store.ts';
import { deleteAccount, lockForRemoval, membersOf } from '../users/account-removal.store.ts';
import { countAccounts, findAccounts } from '../users/found-accounts.store.ts';
import { ORGANIZATION, type OrganizationRow, toOrganization } from './organization.rows.ts';
import type {
  Organization,
  OrganizationDraft,
  OrganizationFields,
  OrganizationSearch,
  OrganizationStore,
  RenamedOrganization,
} from './organizations.ts';
import { insertTeams } from './teams.store.ts';

const INSERT = sql(
  'organizations.insert',
  `insert into account (kind, name, full_name, description, website, location, visibility, founder_id)
   select 'organization', o.*
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[]) as o
   returning id, name`,
);
const WHERE = `o.kind = 'organization'`;
const SCOPES = {
  all: {
    find: findAccounts({ kind: 'organization', name: 'organizations.find', where: 'true', hasEmails: false }),
    list: listing('all', WHERE),
  },
  ownerless: {
    find: findAccounts({
      kind: 'organization',
      name: 'organizations.findOwnerless',
      where: 'a.is_ownerless',
      hasEmails: false,
      isFew: true,
    }),
    list: listing('ownerless', `${WHERE} and o.is_ownerless`),
  },
} as const;
const COUNT_OWNERLESS = countAccounts('organizations.countOwnerless', 'a.is_ownerless');

function listing(scope: string, where: string): Statement {
  const page = `${where} and o.id >= $1 order by o.id offset $2 limit $3`;
  return sql(`organizations.list.${scope}`, `select ${ORGANIZATION} from account o where ${page}`);
}

const LIST_SOME = sql(
  'organizations.listSome',
  `select ${ORGANIZATION} from account o where ${WHERE} and o.id = any($3::bigint[]) order by o.id offset $1 limit $2`,
);
const GET_SOME = sql(
  'organizations.getSome',
  `select ${ORGANIZATION} from account o where o.id = any($1::bigint[]) order by o.id`,
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
const TAKEN = countTaken('organizations.taken', 'account where founder_id = $1');
const INSERT_FOUNDER = sql(
  'organizations.insertFounder',
  'insert into team_member (team_id, account_id) select * from unnest($1::bigint[], $2::bigint[])',
);

export function createOrganizationStore(db: Db, write: Write, quotas: Quotas): OrganizationStore {
  return { listSome, listAll, get: (id) => get(db.query, id), create, update, remove };

  async function listSome(ids: readonly bigint[], { offset, limit }: PageRequest): Promise<Page<Organization>> {
    const rows = await db.query<OrganizationRow>(LIST_SOME, [offset, limit, ids]);
    return { items: rows.map(toOrganization), total: ids.length };
  }

  async function listAll({ text, ownerless }: OrganizationSearch, request: PageRequest): Promise<Page<Organization>> {
    const { find, list } = SCOPES[ownerless ? 'ownerless' : 'all'];
    if (text !== '') {
      const { ids, ...counted } = await find(db.query, text, request);
      return { items: (await db.query<OrganizationRow>(GET_SOME, [ids])).map(toOrganization), ...counted };
    }
    const { firstId, skip, ...counted } = ownerless
      ? { ...(await COUNT_OWNERLESS(db.query)), firstId: 0n, skip: request.offset }
      : await startOfPage(db.query, 'organizations', request.offset);
    const rows = firstId === undefined ? [] : await db.query<OrganizationRow>(list, [firstId, skip, request.limit]);
    return { items: rows.map(toOrganization), ...counted };
  }

  async function create(draft: OrganizationDraft, actor?: Actor, once?: Once<Organization>) {
    return await unlessNameTaken(() =>
      write(async (query, touch, record, keep) => {
        const [founder] = await query(FOUNDER, [draft.founderId]);
        if (!founder) return 'no founder';
        await quotas.require(query, { limit: 'organizationsPerUser', ownerId: draft.founderId, count: TAKEN });
        const made = only(await insertOrganizations(query, touch, [draft]));
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
        query.later(LOCK, [id]);
        const current = await get(query, id);
        if (!current) return undefined;
        const formerNames = (await query<{ name: string }>(FORMER_NAMES, [id])).map(({ name }) => name);
        const next = decide({ ...current, formerNames });
        query.later(UPDATE, [id, next.name, ...detailsOf(next)]);
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

/** For transactions that create organizations together with something else. The result is in the same order. */
export async function insertOrganizations(
  query: TransactionQuery,
  touch: (change: Change) => void,
  drafts: readonly OrganizationDraft[],
) {
  const rows = await query<{ id: bigint; name: string }>(INSERT, [
    drafts.map(({ name }) => name),
    ...DETAILS.map((detail) => drafts.map((draft) => draft[detail])),
    drafts.map(({ founderId }) => founderId),
  ]);
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  const made = drafts.map((draft) => ({ ...draft, id: known(ids.get(draft.name)) }));
  const teams = made.flatMap(({ id, teams }) => teams.map((team) => ({ ...team, organizationId: id })));
  const teamIds = Map.groupBy(
    (await insertTeams(query, teams)).map((id, place) => ({ id, organizationId: teams[place]?.organizationId })),
    ({ organizationId }) => organizationId,
  );
  const results = made.map(({ id, founderId }) => {
    const ofThis = (teamIds.get(id) ?? []).map((team) => team.id);
    return { id, founderId, teamIds: ofThis };
  });
  query.later(INSERT_FOUNDER, [results.map(({ teamIds }) => teamIds[0]), results.map(({ founderId }) => founderId)]);
  for (const { id, founderId, teamIds } of results) {
    touch({ kind: 'account', id, organizationId: id });
    touch({ kind: 'account', id: founderId });
    for (const team of teamIds) touch({ kind: 'team', id: team, organizationId: id, isNew: true });
  }
  return results;
}

async function get(query: Query, id: bigint): Promise<Organization | undefined> {
  const [row] = await query<OrganizationRow>(GET, [id]);
  return row && toOrganization(row);
}

/** In the order of the columns. */
const DETAILS = ['fullName', 'description', 'website', 'location', 'visibility'] as const;

function detailsOf(fields: OrganizationFields): string[] {
  return DETAILS.map((detail) => fields[detail]);
}

function about(actor: Actor, action: AuditAction, id: bigint): AuditEntry {
  return { actor, organizationId: id, action, objectType: 'organization', objectId: id };
}

/** An organization as the audit log shows it. */
function toState({ name, fullName, description, website, location, visibility }: OrganizationFields) {
  return { name, fullName, description, website, location, visibility };
}
