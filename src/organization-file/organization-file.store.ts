import { namesOf } from '../authz/explain/explain.store.ts';
import { type AppError, invalidField } from '../base/errors.ts';
import type { Actor, AuditEntry } from '../changes/audit-entry.ts';
import type { Quotas } from '../changes/quotas.store.ts';
import type { Work, Write } from '../changes/write.ts';
import { type Db, type Query, sql } from '../db/db.ts';
import { createFactorStore } from '../factors/factors.store.ts';
import { TRUST_RULE, type TrustRuleRow, toTrustRule } from '../federation/trust-rule.rows.ts';
import { type TrustRuleDraft, trustRuleDraft } from '../federation/trust-rule.ts';
import { createTrustRuleStore } from '../federation/trust-rules.store.ts';
import type { OwnedRobot } from '../federation/trust-rules.ts';
import { recentLog } from '../history/past.store.ts';
import type { Permission } from '../identity/callers.ts';
import { createTeamStore } from '../organizations/teams.store.ts';
import { nameTaken, noTeam } from '../organizations/teams.ts';
import { createRequestRuleStore, readRequestRulesOf } from '../requests/rules/request-rules.store.ts';
import { createRobotStore } from '../robots/robots.store.ts';
import type { WantedAssignment } from '../roles/assignment-plan.ts';
import { createRoleFileStore, readRoleFile } from '../roles/role-file.store.ts';
import { createTokenPolicyStore } from '../tokens/token-policy.store.ts';
import { NO_POLICY } from '../tokens/token-policy.ts';
import type { Transaction } from '../users/users.store.ts';
import { createWebhookStore } from '../webhooks/webhooks.store.ts';
import { fingerprintOf } from './organization-content.ts';
import type { Applying, OrganizationFileStore } from './organization-file.ts';
import type { Account, OrganizationNow, StoredMember, StoredRobot, StoredTeam } from './organization-now.ts';
import { lookUpPastOrganization } from './past/past-organization.store.ts';
import type { OrganizationPlan } from './plans/organization-plan.ts';
import { planRoleParts } from './plans/role-part-plan.ts';
import type { TeamAfter } from './plans/team-plan.ts';
import type { TrustRulePlan } from './plans/trust-rule-plan.ts';
import { type MembersOfTeam, putMembers } from './team-members.store.ts';

interface TeamRow {
  id: bigint;
  name: string;
  description: string;
  permission: Permission;
  is_built_in: boolean;
  is_scim: boolean;
}

interface MemberRow {
  team_id: bigint;
  id: bigint;
  login: string;
  expires_at: Date | null;
  is_provided: boolean;
}

interface SettingsRow {
  name: string;
  requires_second_factor: boolean;
  max_days: number | null;
  expiry_required: boolean | null;
}

const SETTINGS = sql(
  'organizationFile.settings',
  `select a.name, a.requires_second_factor, p.max_days, p.expiry_required
     from account a left join token_policy p on p.organization_id = a.id where a.id = $1 and a.kind = 'organization'`,
);
const LOCK = sql('organizationFile.lock', `select id from account where id = $1 and kind = 'organization' for update`);
// Users are locked before teams wherever both are locked, and roles before teams.
const LOCK_PEOPLE = sql(
  'organizationFile.lockPeople',
  'select id from account where id = any($1::bigint[]) order by id for key share',
);
const LOCK_ROLES = sql(
  'organizationFile.lockRoles',
  'select id from role where organization_id = $1 order by id for update',
);
const LOCK_TEAMS = sql(
  'organizationFile.lockTeams',
  'select id from team where organization_id = $1 order by id for update',
);
const LOCK_ROBOTS = sql(
  'organizationFile.lockRobots',
  'select id from robot where owner_id = $1 order by id for update',
);
const LOCK_WEBHOOKS = sql(
  'organizationFile.lockWebhooks',
  'select id from webhook where owner_id = $1 order by id for update',
);
const TEAMS = sql(
  'organizationFile.teams',
  `select t.id, t.name, t.description, t.permission, t.type = 'builtin' as is_built_in,
          exists (select 1 from scim_group s where s.team_id = t.id) as is_scim
     from team t where t.organization_id = $1 order by t.id`,
);
const MEMBERS = sql(
  'organizationFile.members',
  `select m.team_id, m.account_id as id, a.name as login, m.expires_at,
          exists (select 1 from provider_membership p where p.team_id = m.team_id and p.account_id = m.account_id)
            as is_provided
     from team t join team_member m on m.team_id = t.id join account a on a.id = m.account_id
    where t.organization_id = $1 order by m.team_id, m.account_id`,
);
const ROBOTS = sql(
  'organizationFile.robots',
  'select id, name, description from robot where owner_id = $1 order by id',
);
const TRUST_RULES = sql(
  'organizationFile.trustRules',
  `select ${TRUST_RULE} from trust_rule t join robot r on r.id = t.robot_id where r.owner_id = $1 order by t.id`,
);
const WEBHOOKS = sql(
  'organizationFile.webhooks',
  'select id, name, url, types, format, active from webhook where owner_id = $1 order by id',
);
const ACCOUNTS = sql(
  'organizationFile.accounts',
  `select id, name as login from account where kind = 'user' and name_key = any($1::text[])`,
);

/** What is written in one transaction. Each part is written by the store of its own noun. */
export function createOrganizationFileStore(db: Db, write: Write, quotas: Quotas): OrganizationFileStore {
  return {
    read: (id, logins, wanted) => db.snapshot((query) => read(query, id, logins, wanted, false)),

    readSince: (id, at, search) =>
      db.snapshot(async (query) => {
        const log = await recentLog(query, id, at, search);
        const now = await read(query, id, [], undefined, false);
        return log && now && { now, log };
      }),

    lookUp: (id, at, untold) => db.snapshot((query) => lookUpPastOrganization(query, id, at, untold)),

    async apply(organizationId, { logins, wanted, fingerprint }, plan, applying, about) {
      const { actor } = applying;
      return await write(async (query, touch, record) => {
        if ((await query(LOCK, [organizationId])).length === 0) return 'gone';
        await query(LOCK_PEOPLE, [peopleOf(plan)]);
        for (const statement of [LOCK_ROLES, LOCK_TEAMS, LOCK_ROBOTS, LOCK_WEBHOOKS])
          await query(statement, [organizationId]);
        const now = await read(query, organizationId, logins, wanted, true);
        if (!now) return 'gone';
        if ((await fingerprintOf(now)) !== fingerprint) return 'stale';
        const counted = { entries: 0 };
        const transaction = {
          ...{ query, touch },
          record: (entry: AuditEntry) => {
            counted.entries++;
            record(entry);
          },
        };
        await put(transaction, plan, wanted, applying);
        const object = { objectType: 'organization', objectId: organizationId };
        record({ actor, organizationId, action: 'organization.apply', ...object, after: { ...about, ...counted } });
        return 'applied';
      });
    },
  };

  async function put(
    transaction: Transaction,
    plan: OrganizationPlan,
    wanted: readonly WantedAssignment[] | undefined,
    applying: Applying,
  ): Promise<void> {
    const { organizationId } = plan;
    const { actor } = applying;
    // The stores of other nouns write in this transaction, with its statements, audit entries and limits.
    const inside: Write = async <T, Made>(work: Work<T, Made>) =>
      await work(transaction.query, transaction.touch, transaction.record, () => undefined);
    await putTeams(transaction, inside, plan, actor);
    await putRobots(inside, plan, actor);
    await putWebhooks(inside, plan, applying);
    const { roleParts, requestRules, tokenPolicy, secondFactor, today } = plan;
    if (roleParts) {
      const decide = async (now: Parameters<typeof planRoleParts>[1]) => {
        const { roles, assignments, guardrails } = planRoleParts(organizationId, now, roleParts, today);
        return { plan: roles, assignments, rules: guardrails };
      };
      await createRoleFileStore(db, inside).change(organizationId, wanted, decide, actor);
    }
    if (requestRules) {
      await createRequestRuleStore(db, inside).put(organizationId, actor, requestRules, () => undefined);
    }
    if (tokenPolicy) {
      await createTokenPolicyStore(db, inside).set(organizationId, { ...NO_POLICY, ...tokenPolicy }, actor);
    }
    if (secondFactor) await createFactorStore(db, inside).setRequired(organizationId, secondFactor.required, actor);
  }

  async function putTeams(transaction: Transaction, inside: Write, plan: OrganizationPlan, actor: Actor) {
    const { organizationId, teams } = plan;
    const store = createTeamStore(db, inside, quotas);
    for (const { id } of teams.deletes) await store.remove(id, () => undefined, actor);
    const changes: MembersOfTeam[] = [];
    for (const team of teams.teams) {
      const teamId = await putTeam(store, organizationId, team, actor);
      changes.push({ ...team, id: teamId, organizationId });
    }
    await putMembers(transaction, changes, quotas.limits.teamsPerUser, actor);
  }

  async function putRobots(inside: Write, { organizationId, robots }: OrganizationPlan, actor: Actor) {
    const store = createRobotStore(db, inside, quotas);
    for (const { id } of robots.deletes) await store.remove(organizationId, id, () => undefined, actor);
    for (const { id, current, name, description, trustRules } of robots.robots) {
      const robot = { robotId: id, ownerId: organizationId };
      const draft = { name, description };
      if (!current || current.name !== name || current.description !== description) {
        const put = current
          ? await store.update(organizationId, id, () => draft, actor)
          : await store.create(organizationId, draft, actor);
        if (put === 'name taken') throw nameTakenIn('robots', name);
        if (put) robot.robotId = put.id;
      }
      await putTrustRules(inside, robot, trustRules, actor);
    }
  }

  async function putTrustRules(inside: Write, robot: OwnedRobot, { puts, deletes }: TrustRulePlan, actor: Actor) {
    const store = createTrustRuleStore(db, inside, quotas);
    for (const { id } of deletes) await store.remove(robot, id, () => undefined, actor);
    for (const { current, draft } of puts) {
      const put = current
        ? await store.update(robot, current.id, () => draft, actor)
        : await store.create(robot, draft, actor);
      if (put === 'name taken') throw nameTakenIn('robots', draft.name);
    }
  }

  async function putWebhooks(inside: Write, { organizationId, webhooks }: OrganizationPlan, applying: Applying) {
    const { actor, creator } = applying;
    const secrets = [...applying.secrets];
    const store = createWebhookStore(db, inside, quotas);
    for (const { id } of webhooks.deletes) await store.remove(organizationId, id, () => undefined, actor);
    for (const { current, draft } of webhooks.webhooks) {
      const secret = current ? undefined : secrets.shift();
      const put = secret
        ? await store.create({ ownerId: organizationId, ...secret, draft, isNameGiven: true, creator }, actor)
        : current && (await store.update(organizationId, current.id, () => draft, creator, undefined, actor));
      if (put === 'name taken') throw nameTakenIn('webhooks', draft.name);
    }
  }
}

async function putTeam(
  store: ReturnType<typeof createTeamStore>,
  organizationId: bigint,
  { id, current, name, description, permission }: TeamAfter,
  actor: Actor,
): Promise<bigint> {
  if (!current) {
    const draft = { organizationId, name, description, permission, type: 'custom' as const, units: [] };
    const made = await store.create(organizationId, draft, actor);
    if (made === 'name taken') throw nameTaken();
    if (!made) throw noTeam();
    return made.id;
  }
  const isSame = current.name === name && current.description === description && current.permission === permission;
  if (isSame) return id;
  const updated = await store.update(id, (stored) => ({ ...stored, name, description, permission }), actor);
  if (updated === 'name taken') throw nameTaken();
  return id;
}

/** Two entries that swap their names: neither can have its own before the other has left it. */
function nameTakenIn(section: string, name: string): AppError {
  return invalidField(
    section,
    `${section} ${JSON.stringify(name)}: the name is taken until the file is applied`,
    'name_taken',
  );
}

function peopleOf({ teams }: OrganizationPlan): bigint[] {
  const changed = teams.teams.flatMap(({ joins, leaves }) => [
    ...joins.map(({ account }) => account.id),
    ...leaves.map(({ id }) => id),
  ]);
  return [...changed, ...teams.deletes.flatMap(({ members }) => members.map(({ id }) => id))];
}

/** In a transaction, the rows that are read are locked. */
async function read(
  query: Query,
  id: bigint,
  logins: readonly string[],
  wanted: readonly WantedAssignment[] | undefined,
  locks: boolean,
): Promise<OrganizationNow | undefined> {
  const [settings] = await query<SettingsRow & Record<string, unknown>>(SETTINGS, [id]);
  if (!settings) return undefined;
  const members = Map.groupBy(await query<MemberRow & Record<string, unknown>>(MEMBERS, [id]), (row) => row.team_id);
  const teams = await query<TeamRow & Record<string, unknown>>(TEAMS, [id]);
  const accounts = await query<Account & Record<string, unknown>>(ACCOUNTS, [logins]);
  return {
    ...{ id, name: settings.name },
    teams: teams.map((row) => toTeam(row, members.get(row.id) ?? [])),
    robots: await readRobots(query, id, settings.name),
    roleFile: await readRoleFile(query, id, wanted, locks),
    requestRules: await readRequestRulesOf(query, id),
    webhooks: await query<OrganizationNow['webhooks'][number] & Record<string, unknown>>(WEBHOOKS, [id]),
    tokenPolicy: { maxDays: settings.max_days, expiryRequired: settings.expiry_required ?? false },
    secondFactor: settings.requires_second_factor,
    accounts: new Map(accounts.map((row) => [row.login.toLowerCase(), { id: row.id, login: row.login }])),
  };
}

async function readRobots(query: Query, id: bigint, organization: string): Promise<StoredRobot[]> {
  const rows = await query<Omit<StoredRobot, 'trustRules'> & Record<string, unknown>>(ROBOTS, [id]);
  const rules = (await query<TrustRuleRow & Record<string, unknown>>(TRUST_RULES, [id])).map(toTrustRule);
  const objects = rules.flatMap(({ limits }) => limits?.objects ?? []);
  const refOf = ({ type, id: number }: (typeof objects)[number]) => `${type}:${number}`;
  const names = objects.length > 0 ? await namesOf(query, objects.map(refOf)) : new Map<string, string>();
  const renamed = (limits: TrustRuleDraft['limits']): TrustRuleDraft['limits'] =>
    limits && {
      organizations: limits.organizations.map((one) => ({ ...one, name: one.id === id ? organization : one.name })),
      objects: limits.objects.map((one) => ({ ...one, name: names.get(refOf(one)) ?? one.name })),
    };
  const byRobot = Map.groupBy(rules, ({ robotId }) => robotId);
  return rows.map(({ id: robotId, name, description }) => {
    const own = byRobot.get(robotId) ?? [];
    const trustRules = own.map((one) => ({ ...trustRuleDraft(one), limits: renamed(one.limits), id: one.id }));
    return { id: robotId, name, description, trustRules };
  });
}

function toTeam(row: TeamRow, members: readonly MemberRow[]): StoredTeam {
  const { id, name, description, permission, is_built_in: isBuiltIn, is_scim: isScim } = row;
  return { ...{ id, name, description, permission, isBuiltIn, isScim }, members: members.map(toMember) };
}

function toMember({ id, login, expires_at: expiresAt, is_provided: isProvided }: MemberRow): StoredMember {
  return { id, login, expiresAt, isProvided };
}
