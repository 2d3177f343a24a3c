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
  /** The column with the account that owns it, if routes are about single objects of the type. */
  readonly ownerColumn?: string;
  /** Callers can ask which permissions they hold on it. */
  readonly isAsked: boolean;
  /** A user can own it without any organization. Its tuples are then in the graph of that user. */
  readonly isPersonal: boolean;
}

/**
 * Every type of `platform.fga`, once. A type that is missing here fails a test, and one whose source is missing would
 * give stale answers: all other lists of kinds derive from this one.
 */
export const OBJECT_KINDS = {
  user: { source: 'account', table: 'account', accountKind: 'user', isAsked: true, isPersonal: false },
  platform: { source: 'platform', isAsked: false, isPersonal: false },
  organization: { source: 'account', table: 'account', accountKind: 'organization', isAsked: true, isPersonal: false },
  team: { source: 'team', table: 'team', ownerColumn: 'organization_id', isAsked: true, isPersonal: false },
  role: { source: 'role', table: 'role', isAsked: false, isPersonal: false },
  cluster: { source: 'cluster', table: 'cluster', ownerColumn: 'owner_id', isAsked: true, isPersonal: true },
  contract: { source: 'contract', table: 'contract', ownerColumn: 'owner_id', isAsked: true, isPersonal: true },
  robot_ac: { source: 'robot', table: 'robot', ownerColumn: 'owner_id', isAsked: true, isPersonal: true },
  token: { source: 'token', table: 'token', isAsked: true, isPersonal: true },
} as const satisfies Readonly<Record<string, ObjectKind>>;

type Kinds = typeof OBJECT_KINDS;
type TypesWhere<Condition> = {
  [Type in keyof Kinds]: Kinds[Type] extends Condition ? Type : never;
}[keyof Kinds];

/**
 * What a write touched, so that every replica can forget exactly that. No tuple comes from a guardrail: such a change is
 * for the guard of writes, and for those who follow events.
 */
export type ChangeKind = Kinds[keyof Kinds]['source'] | 'guardrail';
/** The types that callers can ask about. */
export type ObjectType = TypesWhere<{ isAsked: true }>;
/** The types that routes can be about, besides organizations and roles. */
export type OwnedType = TypesWhere<{ ownerColumn: string }>;

const ENTRIES = Object.entries(OBJECT_KINDS) as [keyof Kinds, ObjectKind][];

export const CHANGE_KINDS = [...new Set(ENTRIES.map(([, { source }]) => source))] as Exclude<ChangeKind, 'guardrail'>[];
export const OBJECT_TYPES = ENTRIES.filter(([, { isAsked }]) => isAsked).map(([type]) => type) as ObjectType[];
export const OWNED_TYPES = ENTRIES.flatMap(([type, { table, ownerColumn }]) =>
  table !== undefined && ownerColumn !== undefined ? [{ type: type as OwnedType, table, ownerColumn }] : [],
);
export const NAMED_TYPES = ENTRIES.flatMap(([type, { table, accountKind }]) =>
  table === undefined ? [] : [{ type, table, accountKind }],
);

/** Resources that users own themselves are in their own graph, not in that of an organization. */
export function isPersonal(type: keyof Kinds): boolean {
  return OBJECT_KINDS[type].isPersonal;
}
