import { allowed, createGraph, type Graph, type Model } from '../../../packages/rebac/src/rebac.ts';
import { readTuples } from '../../../src/authz/graphs.store.ts';
import { type Db, type Query, sql } from '../../../src/db/db.ts';

const NAMES = sql(
  'test.impactNames',
  `select 'team:' || id as object, name from team union all select 'role:' || id, name from role
   union all select 'cluster:' || id, name from cluster union all select 'robot_ac:' || id, name from robot
   union all select 'organization:' || id, name from account where kind = 'organization'`,
);
const ENDS = sql(
  'test.impactEnds',
  `select distinct expires_at from (
     select m.expires_at from team_member m join team t on t.id = m.team_id where t.organization_id = $1
     union all select x.expires_at from assignment x where x.organization_id = $1
   ) as ends where expires_at is not null order by 1`,
);
const END_MEMBERS = sql('test.impactEndMembers', 'delete from team_member where expires_at <= $1');
const END_ROLES = sql('test.impactEndRoles', 'delete from assignment where expires_at <= $1');
const END_LEAVERS = sql(
  'test.impactEndLeavers',
  `delete from assignment s where s.user_id is not null and not exists (
     select 1 from team_member m join team t on t.id = m.team_id
      where m.account_id = s.user_id and t.organization_id = s.organization_id)`,
);
/** The permission on the organization from which one on an ordinary object follows. */
const FOLLOWS: Readonly<Record<string, string>> = {
  'team can_view': 'can_view_teams',
  'team can_edit': 'can_edit_teams',
  'team can_delete': 'can_delete_teams',
  'team can_add_member': 'can_manage_team_members',
  'team can_remove_member': 'can_manage_team_members',
  'role can_view': 'can_view_roles',
  'role can_edit': 'can_edit_roles',
  'role can_delete': 'can_delete_roles',
  'cluster can_view': 'can_view_clusters',
  'cluster can_edit': 'can_edit_clusters',
  'cluster can_remove': 'can_remove_clusters',
  'cluster can_connect': 'can_connect_clusters',
  'cluster can_view_orchestratorconfig': 'can_view_cluster_config',
  'contract can_view': 'can_view_contracts',
  'contract can_edit': 'can_edit_contracts',
  'contract can_delete': 'can_delete_contracts',
  'robot_ac can_view': 'can_view_robots',
  'robot_ac can_edit': 'can_edit_robots',
  'robot_ac can_delete': 'can_delete_robots',
  'token can_view': 'can_view_tokens',
  'token can_delete': 'can_delete_tokens',
};

/** What was asked: who asks, about whom, in which organization. */
export interface Scope {
  readonly organization: string;
  readonly organizationName: string;
  readonly caller: string;
  /** `user:7` by name. */
  readonly people: ReadonlyMap<string, string>;
  /** Those whose impact is compared. */
  readonly members: ReadonlyMap<string, string>;
}

export interface Moment {
  readonly objects: readonly string[];
  readonly names: ReadonlyMap<string, string>;
  /** `type name`, which is the same for an object before and after it gets its number. */
  nameOf(object: string): string;
  held(user: string, object: string): readonly string[];
  /** The same without the rights of site administrators. */
  heldAsMember(user: string, object: string): readonly string[];
  /** When it ends if nothing happens but that things end: the first time at which it is not held. */
  endOf(user: string, object: string, relation: string): string | undefined;
}

/** What everybody holds at a moment; by default now. The rows that have ended by then are gone only in between. */
export async function lookAt(db: Db, model: Model, organizationId: bigint, at?: Date): Promise<Moment> {
  const rows = await db.query<{ object: string; name: string }>(NAMES);
  const names = new Map(rows.map(({ object, name }) => [object, name]));
  const ends = (await db.query<{ expires_at: Date }>(ENDS, [organizationId])).map((row) => row.expires_at);
  const all = await tuplesAt(at);
  const later: { readonly end: Date; readonly held: Moment['held'] }[] = [];
  for (const end of ends) {
    if (at === undefined || end > at) later.push({ end, held: ask(createGraph(model, await tuplesAt(end))) });
  }
  const whole = createGraph(model, all);
  const plain = createGraph(
    model,
    all.filter(({ relation, object }) => !(relation === 'platform' && object.startsWith('organization:'))),
  );
  // Nobody is told what they can do with an assignment, or with a set of clusters.
  const isAsked = (object: string) => !/^(platform|assignment|cluster_set):/.test(object);
  const objects = [...new Set(all.map(({ object }) => object))].filter(isAsked);
  const nameOf = (object: string) => {
    const [type, id] = object.split(':');
    return `${type} ${names.get(object) ?? id}`;
  };
  const endOf = (user: string, object: string, relation: string) =>
    later.find(({ held }) => !held(user, object).includes(relation))?.end.toISOString();
  return { objects, names, nameOf, held: ask(whole), heldAsMember: ask(plain), endOf };

  async function tuplesAt(moment: Date | undefined) {
    if (moment === undefined) return [...(await readTuples(db.query, organizationId)).tuples];
    let found: ReturnType<typeof createTuples> = [];
    const isBack = new Error('rolled back');
    await db
      .transaction(async (query: Query) => {
        await query(END_MEMBERS, [moment]);
        await query(END_ROLES, [moment]);
        await query(END_LEAVERS, []);
        found = createTuples((await readTuples(query, organizationId)).tuples);
        throw isBack;
      })
      .catch((error: unknown) => {
        if (error !== isBack) throw error;
      });
    return found;
  }
}

function ask(graph: Graph): Moment['held'] {
  const answers = new Map<string, readonly string[]>();
  return (user: string, object: string) => {
    const key = `${user} ${object}`;
    const answer = answers.get(key) ?? allowed(graph, user, object, { prefix: 'can_' });
    answers.set(key, answer);
    return answer;
  };
}

function createTuples(tuples: Awaited<ReturnType<typeof readTuples>>['tuples']) {
  return [...tuples];
}

interface PersonWords {
  readonly gains: readonly string[];
  readonly loses: readonly string[];
  readonly keeps: readonly string[];
}

/** What the answer must be, from what everybody holds before and after. Undefined if the caller may not see members. */
export function expectedImpact(earlier: Moment, later: Moment, scope: Scope) {
  const { organization, organizationName, caller, people, members } = scope;
  if (!earlier.held(caller, organization).includes('can_view_members')) return undefined;
  const objects = [...new Set([...earlier.objects, ...later.objects])].filter((object) => object !== organization);
  const sees = (object: string) =>
    !earlier.objects.includes(object) || earlier.held(caller, object).includes('can_view');
  const followed = (object: string, relation: string) => FOLLOWS[`${object.split(':')[0]} ${relation}`] ?? 'nothing';
  const follows = (object: string, relation: string, from: readonly string[]) =>
    from.includes(followed(object, relation));
  const users: Record<string, PersonWords> = {};
  for (const [name, user] of members) {
    const [had, has] = [earlier.held(user, organization), later.held(user, organization)];
    const [gained, lost] = [minus(has, had), minus(had, has)];
    const until = (moment: Moment, object: string, relation: string) => {
      const end = moment.endOf(user, object, relation);
      return end ? ` until ${end}` : '';
    };
    const ends = (object: string, relation: string) =>
      [earlier, later].map((moment) => moment.endOf(user, object, relation) ?? 'never').join(' → ');
    const isShifted = (object: string, relation: string) =>
      earlier.endOf(user, object, relation) !== later.endOf(user, object, relation);
    const whole = `organization ${organizationName}`;
    const gains = gained.map((relation) => `${whole} ${relation}${until(later, organization, relation)}`);
    const loses = lost.map((relation) => `${whole} ${relation}${until(earlier, organization, relation)}`);
    const kept = has.filter((relation) => had.includes(relation));
    const keeps = kept.flatMap((relation) =>
      isShifted(organization, relation) ? [`${whole} ${relation} ${ends(organization, relation)}`] : [],
    );
    for (const object of objects.filter(sees)) {
      const isNew = !earlier.objects.includes(object);
      const isGone = !later.objects.includes(object);
      const [before, after] = [earlier.held(user, object), later.held(user, object)];
      const nameOf = isNew ? later.nameOf : earlier.nameOf;
      for (const relation of minus(after, before)) {
        if (follows(object, relation, isNew ? has : gained)) continue;
        gains.push(`${nameOf(object)} ${relation}${until(later, object, relation)}`);
      }
      for (const relation of minus(before, after)) {
        if (follows(object, relation, isGone ? had : lost)) continue;
        loses.push(`${nameOf(object)} ${relation}${until(earlier, object, relation)}`);
      }
      for (const relation of after.filter((one) => before.includes(one) && isShifted(object, one))) {
        const origin = followed(object, relation);
        const isImplied = kept.includes(origin) && ends(organization, origin) === ends(object, relation);
        if (!isImplied) keeps.push(`${nameOf(object)} ${relation} ${ends(object, relation)}`);
      }
    }
    if (gains.length + loses.length + keeps.length > 0) {
      users[name] = { gains: gains.sort(), loses: loses.sort(), keeps: keeps.sort() };
    }
  }
  const holders = (moment: Moment, object: string) =>
    new Set([...people.values()].flatMap((user) => moment.heldAsMember(user, object)));
  const abandoned = (object: string) => minus([...holders(earlier, object)], [...holders(later, object)]);
  const whole = abandoned(organization);
  const rest = objects
    .filter((object) => earlier.objects.includes(object) && later.objects.includes(object) && sees(object))
    .flatMap((object) =>
      abandoned(object)
        .filter((relation) => !follows(object, relation, whole))
        .map((relation) => `${earlier.nameOf(object)} ${relation}`),
    );
  const all = [...whole.map((relation) => `organization ${organizationName} ${relation}`), ...rest];
  return { users, unattended: all.sort() };
}

function minus(some: readonly string[], others: readonly string[]): string[] {
  return some.filter((one) => !others.includes(one));
}

interface ShownEffect {
  readonly object: { readonly type: string; readonly id: number; readonly name: string };
  readonly relation: string;
  readonly expires_at?: string;
  readonly expires_at_before?: string;
}

interface ShownPerson {
  readonly user: { readonly name: string };
  readonly gains: readonly ShownEffect[];
  readonly loses: readonly ShownEffect[];
  readonly keeps: readonly ShownEffect[];
}

/** An answer in the same words. */
export function shownImpact(body: { users: readonly ShownPerson[]; unattended: readonly ShownEffect[] }) {
  const exact = (text: string | undefined) => (text === undefined ? undefined : new Date(text).toISOString());
  const what = ({ object, relation }: ShownEffect) => `${object.type} ${object.name} ${relation}`;
  const until = ({ expires_at: end }: ShownEffect) => (end === undefined ? '' : ` until ${exact(end)}`);
  const words = (effects: readonly ShownEffect[]) => effects.map((effect) => `${what(effect)}${until(effect)}`).sort();
  const kept = (effects: readonly ShownEffect[]) =>
    effects.map((effect) => {
      const [before, after] = [exact(effect.expires_at_before) ?? 'never', exact(effect.expires_at) ?? 'never'];
      return `${what(effect)} ${before} → ${after}`;
    });
  const users: Record<string, PersonWords> = Object.fromEntries(
    body.users.map(({ user, gains, loses, keeps }) => [
      user.name,
      { gains: words(gains), loses: words(loses), keeps: kept(keeps).sort() },
    ]),
  );
  return { users, unattended: words(body.unattended) };
}
