import { describePermission } from '../authz/escalation.ts';
import { AppError } from '../base/errors.ts';
import type { GuardrailsNow } from '../guardrails/guardrail-file.ts';
import type { CatalogEntry } from './catalog.ts';
import { byName, sorterOf } from './role-document.ts';
import type { RoleDraft, TeamExpiries } from './roles.ts';

export interface StoredRole extends RoleDraft {
  readonly id: bigint;
  /** In the order of the team IDs. */
  readonly teamNames: readonly string[];
  readonly teamEnds: ReadonlyMap<string, Date>;
}

export interface Team {
  readonly id: bigint;
  readonly name: string;
}

/** The roles of an organization at one moment, and its teams. */
export interface RolesNow {
  readonly roles: readonly StoredRole[];
  readonly teams: readonly Team[];
  readonly rules: GuardrailsNow;
}

/** A role from a file; its teams are still names. */
export interface Wanted {
  readonly draft: RoleDraft;
  /** What it was called before. */
  readonly was?: string | undefined;
  readonly teams: readonly string[];
  /** When assignments end, by the names of the teams for which the file says so; null for never. */
  readonly ends?: ReadonlyMap<string, Date | null>;
}

/** What has to be done so that the roles match a file. */
export interface Plan {
  readonly creates: readonly RoleDraft[];
  readonly updates: readonly { readonly current: StoredRole; readonly next: RoleDraft }[];
  readonly deletes: readonly StoredRole[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

export interface Change {
  readonly role: string;
  readonly kind: 'create' | 'update' | 'delete';
  readonly words: readonly string[];
}

const MAX_FAULTS = 10;

/** Roles are matched by name, ignoring case. */
export function planFor(
  { roles, teams }: Pick<RolesNow, 'roles' | 'teams'>,
  wanted: readonly Wanted[],
  prunes: boolean,
): Plan {
  const known = new Map(roles.map((role) => [role.name.toLowerCase(), role]));
  const pairs = withTeams(wanted, teams).map(({ draft, terms }, place) => {
    const current = known.get(draft.name.toLowerCase()) ?? formerOf(wanted[place]);
    return { current, next: { ...draft, teamExpiries: endsOf(current, draft.teamIds, terms) } };
  });
  const named = new Set(pairs.map(({ current }) => current));
  const others = roles.filter((role) => !named.has(role));
  const updates = pairs.flatMap(({ current, next }) => (current && isOther(current, next) ? [{ current, next }] : []));
  const creates = pairs.flatMap(({ current, next }) => (current ? [] : [next]));
  return {
    creates,
    updates,
    deletes: prunes ? others : [],
    unchanged: pairs.length - creates.length - updates.length,
    unmanaged: prunes ? [] : others.map((role) => role.name).sort(byName),
  };

  function formerOf(one: Wanted | undefined): StoredRole | undefined {
    return one?.was === undefined ? undefined : known.get(one.was.toLowerCase());
  }
}

type Terms = ReadonlyMap<bigint, Date | null>;

/** Where the file says nothing, assignments end as before. */
function endsOf(current: StoredRole | undefined, teamIds: readonly bigint[], terms: Terms): TeamExpiries {
  const ends = teamIds.map((id) => [id, terms.has(id) ? terms.get(id) : current?.teamExpiries?.get(id)] as const);
  return new Map(ends.flatMap(([id, end]) => (end ? [[id, end]] : [])));
}

function withTeams(wanted: readonly Wanted[], teams: readonly Team[]): { draft: RoleDraft; terms: Terms }[] {
  const ids = new Map(teams.map((team) => [team.name.toLowerCase(), team.id]));
  const faults: string[] = [];
  const drafts = wanted.map(({ draft, teams: names, ends }) => {
    const terms = new Map<bigint, Date | null>();
    const found = names.flatMap((name) => {
      const id = ids.get(name.toLowerCase());
      if (id === undefined)
        faults.push(`role ${JSON.stringify(draft.name)}: no team is called ${JSON.stringify(name)}`);
      const end = ends?.get(name);
      if (id !== undefined && end !== undefined) terms.set(id, end);
      return id === undefined ? [] : [id];
    });
    return { draft: { ...draft, teamIds: [...new Set(found)].sort((a, b) => (a < b ? -1 : 1)) }, terms };
  });
  if (faults.length > 0) throw new AppError('invalid', faults.slice(0, MAX_FAULTS).join('; '));
  return drafts;
}

function isOther(current: RoleDraft, next: RoleDraft): boolean {
  return (
    current.name !== next.name ||
    current.description !== next.description ||
    !isSame(current.permissions, next.permissions) ||
    !isSame(current.teamIds, next.teamIds) ||
    next.teamIds.some((id) => endAt(current, id) !== endAt(next, id))
  );
}

function endAt({ teamExpiries }: RoleDraft, team: bigint): number | undefined {
  return teamExpiries?.get(team)?.getTime();
}

/** Both lists are in canonical order. */
function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((item, place) => item === other[place]);
}

const NOTHING: RoleDraft = { name: '', description: '', permissions: [], teamIds: [] };

/** The plan in readable form: what is added and what is taken away, sorted by role name. */
export function wordsFor(
  { creates, updates, deletes }: Plan,
  { teams, roles }: Pick<RolesNow, 'roles' | 'teams'>,
): Change[] {
  const names = new Map(teams.map((team) => [team.id, team.name]));
  for (const role of roles)
    for (const [place, id] of role.teamIds.entries()) names.set(id, role.teamNames[place] ?? '');
  const inOrder = sorterOf([...names.values()]);
  const endWords = ({ teamExpiries }: RoleDraft, id: bigint) => {
    const end = teamExpiries?.get(id);
    return `team ${names.get(id) ?? id} ${end ? `expires at ${end.toISOString()}` : 'does not expire'}`;
  };
  const teamsIn = (ids: readonly bigint[]) => inOrder(ids.map((id) => names.get(id) ?? String(id)));
  const changes: Change[] = [
    ...creates.map((next) => ({ role: next.name, kind: 'create' as const, words: words(NOTHING, next) })),
    ...updates.map(({ current, next }) => ({ role: next.name, kind: 'update' as const, words: words(current, next) })),
    ...deletes.map((role) => ({ role: role.name, kind: 'delete' as const, words: words(role, NOTHING) })),
  ];
  return changes.sort((a, b) => byName(a.role, b.role));

  function words(before: RoleDraft, after: RoleDraft): string[] {
    const renamed = before.name !== after.name && before.name !== '' && after.name !== '';
    return [
      ...(renamed ? [`name ${JSON.stringify(before.name)} → ${JSON.stringify(after.name)}`] : []),
      ...(before.description === after.description ? [] : [described(before, after)]),
      ...without(after.permissions, before.permissions).map((one: CatalogEntry) => `+ ${describePermission(one)}`),
      ...without(before.permissions, after.permissions).map((one: CatalogEntry) => `- ${describePermission(one)}`),
      ...teamsIn(without(after.teamIds, before.teamIds)).map((name) => `+ team ${name}`),
      ...teamsIn(without(before.teamIds, after.teamIds)).map((name) => `- team ${name}`),
      ...after.teamIds.filter((id) => endAt(before, id) !== endAt(after, id)).map((id) => endWords(after, id)),
    ];
  }
}

function described(before: RoleDraft, after: RoleDraft): string {
  if (before === NOTHING) return `description ${JSON.stringify(after.description)}`;
  return `description ${JSON.stringify(before.description)} → ${JSON.stringify(after.description)}`;
}

function without<T>(items: readonly T[], others: readonly T[]): T[] {
  return items.filter((item) => !others.includes(item));
}
