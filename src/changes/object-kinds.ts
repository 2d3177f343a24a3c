/** What is known about one type of the authorization model. */
interface ObjectKind {
  /**
   * The kind that a write names when it touches such an object, and that the `tuple` view gives as the source of its
   * tuples.
   */
  readonly source: string;
  /** The table with its `id` and `name`. */
  readonly table?: string;
  /** Users and organizations share one table. */
  readonly accountKind?: 'user' | 'organization';
  /** The column with the account that owns it. */
  readonly ownerColumn?: string;
  /** What commands and events call one object. */
  readonly word: string;
  /** What addresses and answers call a list of them. */
  readonly plural: string;
  /** What sentences call one object. */
  readonly title: string;
  /** The area of the scopes that show it. */
  readonly area: 'organization' | 'authz';
  /**
   * Users who hold this on an organization may see every object of the type there: in searches, in events, and by name
   * in the audit log. Without one, the type is in none of them.
   */
  readonly viewAll?: string;
  /** Members see single objects of it, whatever they may see of the organization. */
  readonly isSeenSingly: boolean;
  /** It is found by name. */
  readonly isSearched: boolean;
  /** Callers can ask which permissions they hold on it. */
  readonly isAsked: boolean;
  /** Routes are about single objects of it by `holdsOn`, and tokens can be limited to some of them. */
  readonly isAddressed: boolean;
  /** Roles can be assigned to it. */
  readonly isPrincipal: boolean;
  /** Roles can be assigned on it. */
  readonly isPlace: boolean;
  /** It only holds what it is: no user has a right to anything else because of its tuples. */
  readonly isResource: boolean;
  /** A user can own it without any organization. Its tuples are then in the graph of that user. */
  readonly isPersonal: boolean;
  /** Its changes can decide who sees a cluster, so bus credentials are checked after them. */
  readonly affectsClusters: boolean;
}

/**
 * Every type of `platform.fga`, once. A type that is missing here fails a test, and so does a list of types that is
 * written by hand elsewhere: all other lists derive from this one. `npm run generate` copies to `client/` what the
 * command line and the console need.
 */
export const OBJECT_KINDS = {
  user: {
    source: 'account',
    table: 'account',
    accountKind: 'user',
    word: 'user',
    plural: 'people',
    title: 'user',
    area: 'organization',
    viewAll: 'can_view_members',
    isSeenSingly: false,
    isSearched: true,
    isAsked: true,
    isAddressed: false,
    isPrincipal: true,
    isPlace: false,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  platform: {
    source: 'platform',
    word: 'platform',
    plural: 'platforms',
    title: 'platform',
    area: 'organization',
    isSeenSingly: false,
    isSearched: false,
    isAsked: false,
    isAddressed: false,
    isPrincipal: false,
    isPlace: false,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  organization: {
    source: 'account',
    table: 'account',
    accountKind: 'organization',
    word: 'organization',
    plural: 'organizations',
    title: 'organization',
    area: 'organization',
    viewAll: 'can_view',
    isSeenSingly: false,
    isSearched: true,
    isAsked: true,
    isAddressed: false,
    isPrincipal: false,
    isPlace: true,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  team: {
    source: 'team',
    table: 'team',
    ownerColumn: 'organization_id',
    word: 'team',
    plural: 'teams',
    title: 'team',
    area: 'organization',
    viewAll: 'can_view_teams',
    isSeenSingly: true,
    isSearched: true,
    isAsked: true,
    isAddressed: true,
    isPrincipal: true,
    isPlace: true,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  role: {
    source: 'role',
    table: 'role',
    ownerColumn: 'organization_id',
    word: 'role',
    plural: 'roles',
    title: 'role',
    area: 'authz',
    viewAll: 'can_view_roles',
    isSeenSingly: true,
    isSearched: true,
    isAsked: false,
    isAddressed: false,
    isPrincipal: false,
    isPlace: false,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  assignment: {
    source: 'assignment',
    word: 'assignment',
    plural: 'assignments',
    title: 'assignment',
    area: 'authz',
    viewAll: 'can_view_roles',
    isSeenSingly: true,
    isSearched: false,
    isAsked: false,
    isAddressed: false,
    isPrincipal: false,
    isPlace: false,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  namespace: {
    source: 'assignment',
    word: 'namespace',
    plural: 'namespaces',
    title: 'namespace',
    area: 'organization',
    isSeenSingly: false,
    isSearched: false,
    isAsked: false,
    isAddressed: false,
    isPrincipal: false,
    isPlace: false,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  cluster_set: {
    source: 'cluster',
    table: 'cluster_set',
    word: 'cluster_set',
    plural: 'cluster_sets',
    title: 'cluster set',
    area: 'organization',
    isSeenSingly: false,
    isSearched: false,
    isAsked: false,
    isAddressed: false,
    isPrincipal: false,
    isPlace: true,
    isResource: false,
    isPersonal: false,
    affectsClusters: true,
  },
  cluster: {
    source: 'cluster',
    table: 'cluster',
    ownerColumn: 'owner_id',
    word: 'cluster',
    plural: 'clusters',
    title: 'cluster',
    area: 'organization',
    viewAll: 'can_view_clusters',
    isSeenSingly: true,
    isSearched: true,
    isAsked: true,
    isAddressed: true,
    isPrincipal: false,
    isPlace: true,
    isResource: true,
    isPersonal: true,
    affectsClusters: true,
  },
  contract: {
    source: 'contract',
    table: 'contract',
    ownerColumn: 'owner_id',
    word: 'contract',
    plural: 'contracts',
    title: 'contract',
    area: 'organization',
    viewAll: 'can_view_contracts',
    isSeenSingly: true,
    isSearched: true,
    isAsked: true,
    isAddressed: true,
    isPrincipal: false,
    isPlace: true,
    isResource: true,
    isPersonal: true,
    affectsClusters: false,
  },
  robot_ac: {
    source: 'robot',
    table: 'robot',
    ownerColumn: 'owner_id',
    word: 'robot',
    plural: 'robots',
    title: 'robot account',
    area: 'organization',
    viewAll: 'can_view_robots',
    isSeenSingly: true,
    isSearched: true,
    isAsked: true,
    isAddressed: true,
    isPrincipal: true,
    isPlace: true,
    isResource: true,
    isPersonal: true,
    affectsClusters: false,
  },
  token: {
    source: 'token',
    table: 'token',
    ownerColumn: 'account_id',
    word: 'token',
    plural: 'tokens',
    title: 'token',
    area: 'organization',
    viewAll: 'can_view_tokens',
    isSeenSingly: false,
    isSearched: false,
    isAsked: true,
    isAddressed: false,
    isPrincipal: false,
    isPlace: false,
    isResource: true,
    isPersonal: true,
    affectsClusters: false,
  },
} as const satisfies Readonly<Record<string, ObjectKind>>;

type Kinds = typeof OBJECT_KINDS;
type TypesWhere<Condition> = {
  [Type in keyof Kinds]: Kinds[Type] extends Condition ? Type : never;
}[keyof Kinds];

/** A type of the authorization model. */
export type ModelType = keyof Kinds;
/**
 * What a write touched, so that every replica can forget exactly that. No tuple comes from a guardrail, an invitation, an
 * access request or an access review: such a change is for the guard of writes, and for those who follow events.
 */
export type ChangeKind = Kinds[ModelType]['source'] | TuplelessKind;
/** What is written like anything else, but no right comes from it. */
export const TUPLELESS_KINDS = ['guardrail', 'invitation', 'request', 'review', 'webhook'] as const;
export type TuplelessKind = (typeof TUPLELESS_KINDS)[number];
/** The types that roles can be assigned to. */
export type PrincipalType = TypesWhere<{ isPrincipal: true }>;
/** The types that roles can be assigned on. */
export type PlaceType = TypesWhere<{ isPlace: true }>;
/** The types that callers can ask about. */
export type ObjectType = TypesWhere<{ isAsked: true }>;
/** The types that routes can be about, besides organizations and roles. */
export type OwnedType = TypesWhere<{ isAddressed: true }>;
/** The types whose objects belong to an account. */
export type BelongingType = TypesWhere<{ ownerColumn: string }>;
export type ResourceType = TypesWhere<{ isResource: true }>;
/** The types that are found by name. */
export type SearchedType = TypesWhere<{ isSearched: true }>;
/** The types that callers who are not users themselves can see. */
export type SeenType = TypesWhere<{ viewAll: string }>;
/** What a list of objects of the type is called. */
export type PluralOf<Type extends ModelType> = Kinds[Type]['plural'];

const ENTRIES = Object.entries(OBJECT_KINDS) as [ModelType, ObjectKind][];
const BY_TYPE: ReadonlyMap<string, ObjectKind> = new Map(ENTRIES);

export const CHANGE_KINDS = [...new Set(ENTRIES.map(([, { source }]) => source))] as Exclude<
  ChangeKind,
  TuplelessKind
>[];
export const OBJECT_TYPES = typesWhere(({ isAsked }) => isAsked) as ObjectType[];
export const PRINCIPAL_TYPES = typesWhere(({ isPrincipal }) => isPrincipal) as PrincipalType[];
export const PLACE_TYPES = typesWhere(({ isPlace }) => isPlace) as PlaceType[];
export const RESOURCE_TYPES = typesWhere(({ isResource }) => isResource) as ResourceType[];
/** What rights come through. */
export const STRUCTURE_TYPES = typesWhere(({ isResource }) => !isResource);
export const SEEN_TYPES = typesWhere(({ viewAll }) => viewAll !== undefined) as SeenType[];
/** In the order in which they are shown: organizations come last. */
export const SEARCHED_TYPES = typesWhere(({ isSearched }) => isSearched).sort(
  (one, other) => Number(one === 'organization') - Number(other === 'organization'),
) as SearchedType[];
/** The types with a table, and the account that each object belongs to. */
export const BELONGING_TYPES = ENTRIES.flatMap(([type, { table, ownerColumn }]) =>
  table !== undefined && ownerColumn !== undefined ? [{ type: type as BelongingType, table, ownerColumn }] : [],
);
export const OWNED_TYPES = BELONGING_TYPES.filter(
  (one): one is typeof one & { readonly type: OwnedType } => OBJECT_KINDS[one.type].isAddressed,
);
export const NAMED_TYPES = ENTRIES.flatMap(([type, { table, accountKind }]) =>
  table === undefined ? [] : [{ type, table, accountKind }],
);

function typesWhere(holds: (kind: ObjectKind) => boolean): ModelType[] {
  return ENTRIES.filter(([, kind]) => holds(kind)).map(([type]) => type);
}

/** What is known about a type, which may also be one outside the model, such as `credential` in the audit log. */
export function kindOf(type: string): ObjectKind | undefined {
  return BY_TYPE.get(type);
}

/** Resources that users own themselves are in their own graph, not in that of an organization. */
export function isPersonal(type: ModelType): boolean {
  return OBJECT_KINDS[type].isPersonal;
}
