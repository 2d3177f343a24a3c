/**
 * Who may do what, written once more from the documentation: plain loops over plain records, without the model, the
 * engine or anything else of `src/`. It is slow, and it is meant to be read.
 */
export type Level = 'none' | 'read' | 'write' | 'admin' | 'owner';

export interface PlainTeam {
  readonly id: number;
  level: Level;
  /** Owners, Editors and Viewers, which every organization has from the start. */
  readonly isBuiltIn: boolean;
  readonly members: Set<string>;
}

export interface PlainRole {
  readonly id: number;
  /** As `org_mgmt/edit`. */
  permissions: ReadonlySet<string>;
  readonly teams: Set<number>;
}

/** A role for a person, a robot account or a team, on the organization, on one thing or team, or on a set of clusters. */
export interface PlainGrant {
  readonly id: number;
  readonly role: number;
  readonly to: { readonly person: string } | { readonly team: number } | { readonly robot: number };
  /** As `cluster:5`, `team:3` or `set:eu`; empty for the whole organization. */
  readonly on: string;
  /** Of a cluster or a set: names, and prefixes that end in `*`. Undefined means all of it. */
  readonly namespaces?: readonly string[] | undefined;
  /** It ends by itself, some time. */
  readonly ends?: boolean;
}

export interface PlainOrganization {
  readonly id: number;
  readonly name: string;
  readonly teams: Map<number, PlainTeam>;
  readonly roles: Map<number, PlainRole>;
  readonly grants: PlainGrant[];
}

/** Also a robot account, which is in no team. */
export interface PlainPerson {
  readonly id: number;
  readonly name: string;
  /** The organization of a robot account. */
  readonly robotOf?: string;
  isAdmin: boolean;
  isActive: boolean;
}

export type ThingType = 'cluster' | 'contract' | 'robot_ac' | 'token';

/** What an organization or a person owns. */
export interface Thing {
  readonly type: ThingType;
  readonly id: number;
  readonly owner: string;
  /** Of a cluster. */
  set?: string;
}

export interface PlainWorld {
  readonly people: Map<string, PlainPerson>;
  readonly organizations: Map<string, PlainOrganization>;
  readonly things: Thing[];
  /** Robot accounts that ask themselves. */
  readonly robots: PlainPerson[];
}

export type AskedType = ThingType | 'user' | 'organization' | 'team';

interface Rule {
  /** The lowest permission of a team that is enough by itself. */
  readonly from: Level;
  /** What a role must contain, if a role can grant it at all. */
  readonly permission?: string;
  /** Whoever holds one of these can do it as well. */
  readonly impliedBy?: readonly string[];
}

const LEVELS: readonly Level[] = ['none', 'read', 'write', 'admin', 'owner'];

/** Everything that can be granted on an organization, in the order in which answers list it. */
const ORGANIZATION_RULES: Readonly<Record<string, Rule>> = {
  can_view: { from: 'none' },
  can_edit: { from: 'write', permission: 'org_mgmt/edit' },
  can_delete: { from: 'owner' },
  can_leave: { from: 'none' },
  can_view_members: {
    from: 'read',
    permission: 'org_mgmt/view members',
    impliedBy: ['can_add_member', 'can_remove_member'],
  },
  can_add_member: { from: 'admin', permission: 'org_mgmt/add members' },
  can_remove_member: { from: 'admin', permission: 'org_mgmt/remove members' },
  can_view_teams: {
    from: 'read',
    permission: 'org_mgmt/view teams',
    impliedBy: ['can_create_team', 'can_edit_teams', 'can_delete_teams', 'can_manage_team_members'],
  },
  can_create_team: { from: 'admin', permission: 'org_mgmt/create teams' },
  can_edit_teams: { from: 'admin', permission: 'org_mgmt/edit teams' },
  can_delete_teams: { from: 'admin', permission: 'org_mgmt/delete teams' },
  can_manage_team_members: { from: 'admin', permission: 'org_mgmt/manage team members' },
  can_view_roles: {
    from: 'read',
    permission: 'org_mgmt/view roles',
    impliedBy: ['can_create_role', 'can_edit_roles', 'can_delete_roles', 'can_assign_roles'],
  },
  can_create_role: { from: 'admin', permission: 'org_mgmt/create roles' },
  can_edit_roles: { from: 'admin', permission: 'org_mgmt/edit roles' },
  can_delete_roles: { from: 'admin', permission: 'org_mgmt/delete roles' },
  can_assign_roles: { from: 'admin', permission: 'org_mgmt/assign roles' },
  can_view_audit_log: { from: 'admin', permission: 'org_mgmt/view audit log' },
  can_view_clusters: {
    from: 'read',
    permission: 'cluster_mgmt/view clusters',
    impliedBy: [
      'can_import_clusters',
      'can_edit_clusters',
      'can_connect_clusters',
      'can_view_cluster_config',
      'can_remove_clusters',
      'can_administer_clusters',
    ],
  },
  can_import_clusters: { from: 'write', permission: 'cluster_mgmt/import clusters' },
  can_edit_clusters: { from: 'write', permission: 'cluster_mgmt/reconfigure clusters' },
  can_connect_clusters: { from: 'read', permission: 'cluster_mgmt/connect to clusters' },
  can_view_cluster_config: { from: 'read', permission: 'cluster_mgmt/view orchestrator configuration' },
  can_remove_clusters: { from: 'write', permission: 'cluster_mgmt/remove clusters' },
  can_administer_clusters: { from: 'admin', permission: 'cluster_mgmt/administer clusters' },
  can_review_clusters: { from: 'admin', permission: 'cluster_mgmt/review requests' },
  can_view_contracts: {
    from: 'read',
    permission: 'contract_mgmt/view contracts',
    impliedBy: ['can_create_contracts', 'can_edit_contracts', 'can_delete_contracts'],
  },
  can_create_contracts: { from: 'write', permission: 'contract_mgmt/create contracts' },
  can_edit_contracts: { from: 'write', permission: 'contract_mgmt/edit contracts' },
  can_delete_contracts: { from: 'write', permission: 'contract_mgmt/delete contracts' },
  can_view_robots: {
    from: 'read',
    permission: 'robot_mgmt/view robot accounts',
    impliedBy: ['can_create_robots', 'can_edit_robots', 'can_delete_robots'],
  },
  can_create_robots: { from: 'write', permission: 'robot_mgmt/create robot accounts' },
  can_edit_robots: { from: 'write', permission: 'robot_mgmt/edit robot accounts' },
  can_delete_robots: { from: 'write', permission: 'robot_mgmt/delete robot accounts' },
  can_view_tokens: {
    from: 'read',
    permission: 'token_mgmt/view tokens',
    impliedBy: ['can_create_tokens', 'can_delete_tokens'],
  },
  can_create_tokens: { from: 'write', permission: 'token_mgmt/create tokens' },
  can_delete_tokens: { from: 'write', permission: 'token_mgmt/revoke tokens' },
};

/** What can be done with a thing, and what its organization must grant for it. Its owner, if a person, can do it all. */
const THING_RULES: Readonly<Record<ThingType, Readonly<Record<string, string>>>> = {
  cluster: {
    can_view: 'can_view_clusters',
    can_edit: 'can_edit_clusters',
    can_remove: 'can_remove_clusters',
    can_connect: 'can_connect_clusters',
    can_view_orchestratorconfig: 'can_view_cluster_config',
    can_administer: 'can_administer_clusters',
    can_review: 'can_review_clusters',
  },
  contract: { can_view: 'can_view_contracts', can_edit: 'can_edit_contracts', can_delete: 'can_delete_contracts' },
  robot_ac: { can_view: 'can_view_robots', can_edit: 'can_edit_robots', can_delete: 'can_delete_robots' },
  token: { can_view: 'can_view_tokens', can_delete: 'can_delete_tokens' },
};

const TEAM_RELATIONS = ['can_view', 'can_edit', 'can_delete', 'can_add_member', 'can_remove_member'];

/** All permissions that a role can contain. */
export const PERMISSIONS: readonly string[] = Object.values(ORGANIZATION_RULES).flatMap(({ permission }) =>
  permission === undefined ? [] : [permission],
);

/** Every relation that an answer about such an object can contain, in order. */
export function relationsOf(type: AskedType): readonly string[] {
  if (type === 'user') return ['can_view', 'can_edit'];
  if (type === 'organization') return Object.keys(ORGANIZATION_RULES);
  return type === 'team' ? TEAM_RELATIONS : Object.keys(THING_RULES[type]);
}

/** What a person may do with an object, or in a namespace of it, when they ask in the name of an organization. */
export function allowedPlainly(
  world: PlainWorld,
  person: PlainPerson,
  organization: PlainOrganization,
  type: AskedType,
  id: number,
  namespace?: string,
): string[] {
  return relationsOf(type).filter((relation) => {
    if (type === 'user') return person.robotOf === undefined && id === person.id;
    if (type === 'organization') return id === organization.id && holds(person, organization, relation);
    if (type === 'team') {
      const team = organization.teams.get(id);
      return team !== undefined && holdsOnTeam(person, organization, team, relation);
    }
    const thing = world.things.find((one) => one.type === type && one.id === id);
    if (thing === undefined) return false;
    if (thing.owner === person.name) return true;
    const wanted = THING_RULES[type][relation] ?? '';
    if (thing.owner !== organization.name) return false;
    if (holds(person, organization, wanted)) return true;
    const places = [`${type}:${id}`, ...(thing.set ? [`set:${thing.set}`] : [])];
    if (holdsAt(person, organization, places, wanted, Object.values(THING_RULES[type]))) return true;
    return type === 'cluster' && holdsInNamespace(person, organization, places, wanted, namespace);
  });
}

const IN_NAMESPACES = ['can_view_clusters', 'can_edit_clusters', 'can_connect_clusters', 'can_administer_clusters'];

/** What counts in some namespaces: there, and nowhere else, except that it shows the cluster. */
function holdsInNamespace(
  person: PlainPerson,
  organization: PlainOrganization,
  places: readonly string[],
  relation: string,
  namespace: string | undefined,
): boolean {
  if (!(namespace === undefined ? ['can_view_clusters'] : IN_NAMESPACES).includes(relation)) return false;
  const isThere = (names: readonly string[]) =>
    namespace === undefined ||
    names.some((name) => (name.endsWith('*') ? namespace.startsWith(name.slice(0, -1)) : name === namespace));
  const roles = rolesOf(
    person,
    organization,
    places,
    ({ namespaces }) => namespaces !== undefined && isThere(namespaces),
  );
  const enough = relation === 'can_view_clusters' ? IN_NAMESPACES : [relation];
  const permissions = enough.map((one) => ORGANIZATION_RULES[one]?.permission ?? '');
  return roles.some((role) => permissions.some((permission) => role.permissions.has(permission)));
}

/** Whether a person may do something in an organization. */
export function holds(person: PlainPerson, organization: PlainOrganization, relation: string): boolean {
  const rule = ORGANIZATION_RULES[relation];
  if (rule === undefined) throw new Error(`no rule says who holds ${relation}`);
  const teams = teamsOf(person, organization);
  if (relation === 'can_leave') return teams.length > 0 && !isLastOwner(person, organization);
  if (isAtLeast(rule.from, person, organization)) return true;
  // Of a robot account, its organization is known to it, and nothing else.
  if (relation === 'can_view' && person.robotOf === organization.name) return true;
  if (rule.permission !== undefined && permissionsOf(person, organization).has(rule.permission)) return true;
  return (rule.impliedBy ?? []).some((other) => holds(person, organization, other));
}

const ON_TEAMS = ['can_view_teams', 'can_edit_teams', 'can_delete_teams', 'can_manage_team_members'];

/** Whether a role that somebody has on one of these places contains it, or something there that implies it. */
function holdsAt(
  person: PlainPerson,
  organization: PlainOrganization,
  places: readonly string[],
  relation: string,
  known: readonly string[],
): boolean {
  const { permission, impliedBy = [] } = ORGANIZATION_RULES[relation] ?? {};
  const held = rolesOf(person, organization, places).flatMap((role) => [...role.permissions]);
  if (permission !== undefined && held.includes(permission)) return true;
  return impliedBy.some((other) => known.includes(other) && holdsAt(person, organization, places, other, known));
}

/** The roles that are assigned there to the person or to a team of theirs. An empty text means the organization. */
function rolesOf(
  person: PlainPerson,
  organization: PlainOrganization,
  places: readonly string[],
  counts = ({ namespaces }: PlainGrant) => namespaces === undefined,
): PlainRole[] {
  const own = new Set(teamsOf(person, organization).map((team) => team.id));
  const isTheirs = ({ to }: PlainGrant) => {
    if ('robot' in to) return person.robotOf !== undefined && to.robot === person.id;
    return 'person' in to ? to.person === person.name : own.has(to.team);
  };
  const found = organization.grants.filter((grant) => places.includes(grant.on) && isTheirs(grant) && counts(grant));
  return found.flatMap(({ role }) => organization.roles.get(role) ?? []);
}

/** Whether a role on a team shows it. Of the owners' team, only the permission to view teams counts. */
export function isShownByRole(person: PlainPerson, organization: PlainOrganization, team: PlainTeam): boolean {
  const place = [`team:${team.id}`];
  if (team.level !== 'owner') return holdsAt(person, organization, place, 'can_view_teams', ON_TEAMS);
  return rolesOf(person, organization, place).some(({ permissions }) => permissions.has('org_mgmt/view teams'));
}

function holdsOnTeam(person: PlainPerson, organization: PlainOrganization, team: PlainTeam, relation: string): boolean {
  const may = (other: string) =>
    holds(person, organization, other) ||
    (team.level !== 'owner' && holdsAt(person, organization, [`team:${team.id}`], other, ON_TEAMS));
  const isViewers = team.isBuiltIn && team.level === 'read';
  const looksAfter = isViewers && isAtLeast('write', person, organization);
  if (relation === 'can_view') {
    if (team.members.has(person.name) || looksAfter || may('can_view_teams')) return true;
    return isShownByRole(person, organization, team);
  }
  if (team.level === 'owner') {
    if (relation === 'can_delete') return false;
    if (relation === 'can_remove_member' && team.members.size === 1) return false;
    return isAtLeast('owner', person, organization);
  }
  if (relation === 'can_edit') return may('can_edit_teams');
  if (relation === 'can_delete') return may('can_delete_teams') && !team.isBuiltIn;
  return looksAfter || may('can_manage_team_members');
}

/** Site administrators count as owners everywhere. */
function isAtLeast(level: Level, person: PlainPerson, organization: PlainOrganization): boolean {
  if (person.isAdmin) return true;
  return teamsOf(person, organization).some((team) => LEVELS.indexOf(team.level) >= LEVELS.indexOf(level));
}

function isLastOwner(person: PlainPerson, organization: PlainOrganization): boolean {
  return teamsOf(person, organization).some((team) => team.level === 'owner' && team.members.size === 1);
}

function permissionsOf(person: PlainPerson, organization: PlainOrganization): ReadonlySet<string> {
  const own = new Set(teamsOf(person, organization).map((team) => team.id));
  const roles = [...organization.roles.values()].filter((role) => [...role.teams].some((team) => own.has(team)));
  return new Set([...roles, ...rolesOf(person, organization, [''])].flatMap((role) => [...role.permissions]));
}

function teamsOf(person: PlainPerson, organization: PlainOrganization): PlainTeam[] {
  return [...organization.teams.values()].filter((team) => team.members.has(person.name));
}
