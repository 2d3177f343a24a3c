import type { NewGuardrailInput } from '../../../../client/api.gen.ts';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { serverNow } from '../../data/server-time.ts';
import type { AuditEntry } from '../../parts/entries.tsx';
import type { PlannedChange } from '../../parts/impact.tsx';

export type Role = Pick<Answer<'GET /authz/roles/{id}'>, 'permissions'>;
type PermissionPair = Pick<Role['permissions'][number], 'namespace' | 'action'>;

/** What takes a change back, as a preview takes it, or why that is not possible any more. */
export type Inverse =
  | { readonly changes: readonly PlannedChange[]; readonly reason?: string | undefined }
  /** What gives no user anything, so there is nothing to preview. */
  | { readonly effect: string; readonly change: (org: string) => Promise<unknown> }
  | { readonly problem: string };

interface Logged {
  readonly id: bigint;
  readonly before: Fields;
  readonly after: Fields;
  /** The role as it is now, of an entry about a role that is still there. */
  readonly role: Role | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** What ended by itself, and what was deleted with everything that was in it, is not brought back. */
const INVERSES: Readonly<Record<string, (logged: Logged) => Inverse>> = {
  'team.add_member': ({ id, after }) => ({
    changes: [{ action: 'team.remove_member', id, username: textIn(after, 'username') }],
  }),
  'team.remove_member': ({ id, before }) =>
    unlessOver(before, (expires_at) => ({
      changes: [{ action: 'team.add_member', id, username: textIn(before, 'username'), expires_at }],
    })),
  'team.update_member': ({ id, before, after }) =>
    unlessOver(before, (expires_at) => ({
      changes: [{ action: 'team.add_member', id, username: textIn(after, 'username'), expires_at }],
    })),
  'team.create': ({ id }) => ({ changes: [{ action: 'team.delete', id }] }),
  'team.update': ({ id, before, after }) => ({
    changes: [{ action: 'team.update', id, team: differing(before, after, ['name', 'description', 'permission']) }],
  }),
  'role.create': ({ id }) => ({ changes: [{ action: 'role.delete', id }] }),
  'role.update': undoRole,
  'assignment.create': ({ id }) => ({ changes: [{ action: 'assignment.delete', id }] }),
  'assignment.update': ({ id, before }) =>
    unlessOver(before, (expires_at) => ({
      changes: [{ action: 'assignment.update', id, expires_at }],
      reason: textIn(before, 'reason'),
    })),
  'assignment.delete': ({ before }) => unlessOver(before, (expires_at) => assignAgain(before, expires_at)),
  'guardrail.create': ({ id, after }) => ({
    effect: `Nothing keeps it true any more that ${textIn(after, 'sentence')}.`,
    change: (org) => api.call('DELETE /authz/guardrails/{id}', { path: { id }, query: { org } }),
  }),
  'guardrail.update': ({ id, before }) =>
    unlessNamed(before, (body) => ({
      effect: `Then it must be true again that ${textIn(before, 'sentence')}.`,
      change: (org) => api.call('PUT /authz/guardrails/{id}', { path: { id }, query: { org }, body }),
    })),
  'guardrail.delete': ({ before }) =>
    unlessNamed(before, (body) => ({
      effect: `Then it must be true again that ${textIn(before, 'sentence')}.`,
      change: (org) => api.call('POST /authz/guardrails', { query: { org }, body }),
    })),
  'invitation.create': ({ id }) => ({
    effect: 'The link of this invitation stops working.',
    change: (org) => api.call('DELETE /orgs/{org}/invitations/{id}', { path: { org, id } }),
  }),
  'cluster.update': ({ id, before, after }) => {
    const [was, is] = [textIn(before, 'clusterSetName'), textIn(after, 'clusterSetName')];
    if (was === is) return { problem: 'It did not change who reaches the cluster. Edit the cluster instead.' };
    return { changes: [{ action: 'cluster.update', id, cluster: { clusterSetName: was } }] };
  },
};

/** Whether an entry is about a change of access that can be taken back at all. */
export function hasInverse({ action }: Pick<AuditEntry, 'action'>): boolean {
  return Object.hasOwn(INVERSES, action);
}

export function inverseOf({ action, object: { id }, before, after }: AuditEntry, role: Role | undefined): Inverse {
  const logged = { id, before: fieldsOf(before), after: fieldsOf(after), role };
  return INVERSES[action]?.(logged) ?? { problem: 'This cannot be undone.' };
}

/** Access that would have ended in the meantime is not given again: it would have no end. */
function unlessOver({ expiresAt }: Fields, make: (expiresAt: string | null) => Inverse): Inverse {
  if (typeof expiresAt !== 'string') return make(null);
  if (Date.parse(expiresAt) > serverNow()) return make(expiresAt);
  return { problem: 'What it was before would have ended by now.' };
}

/** The log has the numbers of users and robots, and a guardrail takes their names. */
function unlessNamed(state: Fields, make: (body: NewGuardrailInput) => Inverse): Inverse {
  const { name, enforce, never, always, at_least, at_most } = state;
  const people = fieldsOf(never ?? always);
  if (people.userIds !== undefined || people.robotIds !== undefined) {
    return { problem: 'It names users or robots, of which the log keeps the numbers only. Write it again instead.' };
  }
  const statements = { never, always, at_least, at_most };
  const given = Object.entries(statements).filter(([, statement]) => statement !== undefined);
  const read = ({ teamId, object, ...rest }: Fields) => {
    const { type, id } = fieldsOf(object);
    return {
      ...rest,
      ...(teamId !== undefined && { team: BigInt(String(teamId)) }),
      object: { type, ...(id !== undefined && type !== 'organization' && { id: BigInt(String(id)) }) },
    };
  };
  return make({
    ...{ name: String(name), description: textIn(state, 'description'), enforce: enforce === true },
    ...Object.fromEntries(given.map(([kind, statement]) => [kind, read(fieldsOf(statement))])),
  });
}

/** Only what this change gave is taken away, and only what it took is given again: later changes of the role stay. */
function undoRole({ id, before, after, role }: Logged): Inverse {
  if (role === undefined) return { problem: 'The role is not there any more.' };
  const [was, is] = [permissionsIn(before), permissionsIn(after)];
  const [now, wasKeys, isKeys] = [role.permissions.map(pairOf), was.map(keyOf), is.map(keyOf)];
  const kept = now.filter((pair) => wasKeys.includes(keyOf(pair)) || !isKeys.includes(keyOf(pair)));
  const nowKeys = now.map(keyOf);
  const again = was.filter((pair) => !isKeys.includes(keyOf(pair)) && !nowKeys.includes(keyOf(pair)));
  const isOther = kept.length !== now.length || again.length > 0;
  const fields = {
    ...differing(before, after, ['name', 'description']),
    ...(isOther && { permissions: [...kept, ...again] }),
  };
  const [teamsBefore, teamsAfter] = [listIn(before, 'teamIds'), listIn(after, 'teamIds')];
  const ends = fieldsOf(before.teamExpiries);
  const changes: PlannedChange[] = [
    ...(Object.keys(fields).length === 0 ? [] : [{ action: 'role.update', id, role: fields } as const]),
    ...teamsAfter
      .filter((team) => !teamsBefore.includes(team))
      .map((team) => ({ action: 'role.unassign', id, team: BigInt(team) }) as const),
    ...teamsBefore
      .filter((team) => !teamsAfter.includes(team) && !isOver(ends[team]))
      .map((team) => ({ action: 'role.assign', id, team: BigInt(team), ...endIn(ends[team]) }) as const),
  ];
  return changes.length === 0 ? { problem: 'The role does not have this change any more.' } : { changes };
}

function assignAgain(before: Fields, expiresAt: string | null): Inverse {
  const [to, on] = [fieldsOf(before.to), fieldsOf(before.on)];
  const place = {
    type: textIn(on, 'type'),
    ...(on.id === undefined ? { name: textIn(on, 'name') } : { id: idIn(on) }),
  };
  const assignment = {
    action: 'assignment.create',
    role: { id: BigInt(textIn(before, 'roleId')) },
    to: { type: textIn(to, 'type'), id: idIn(to) },
    ...(place.type !== 'organization' && { on: place }),
    ...(before.namespaces !== undefined && { namespaces: listIn(before, 'namespaces') }),
    expires_at: expiresAt,
  } as const;
  return { changes: [assignment], reason: textIn(before, 'reason') };
}

/** The fields that a change gave other values, as they were before. */
function differing(before: Fields, after: Fields, names: readonly string[]): Fields {
  const changed = names.filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, before[name] ?? '']));
}

function permissionsIn(state: Fields): readonly PermissionPair[] {
  const { permissions } = state;
  return Array.isArray(permissions) ? permissions.map(pairOf) : [];
}

function pairOf({ namespace, action }: PermissionPair): PermissionPair {
  return { namespace, action };
}

function keyOf({ namespace, action }: PermissionPair): string {
  return `${namespace}:${action}`;
}

function isOver(end: unknown): boolean {
  return typeof end === 'string' && Date.parse(end) <= serverNow();
}

function endIn(end: unknown): { readonly expires_at?: string } {
  return typeof end === 'string' ? { expires_at: end } : {};
}

function idIn({ id }: Fields): bigint {
  return BigInt(String(id));
}

function listIn(state: Fields, name: string): readonly string[] {
  const list = state[name];
  return Array.isArray(list) ? list.map(String) : [];
}

function textIn(state: Fields, name: string): string {
  const text = state[name];
  return text === undefined || text === null ? '' : String(text);
}

function fieldsOf(state: unknown): Fields {
  return typeof state === 'object' && state !== null ? (state as Fields) : {};
}
