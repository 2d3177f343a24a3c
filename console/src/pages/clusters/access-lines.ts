import type { Item } from '../../../../client/client.ts';
import type { Assignment } from '../assignments/assignment.ts';

export type Holder = Item<'GET /authz/objects/{objectType}/{objID}/principals'>;
type Reason = NonNullable<Holder['via']>[number];

/** One reason why a user or a robot may do something with a cluster. */
export interface AccessLine {
  readonly key: string;
  /** Assigned on the cluster itself. Undefined if the caller may not know it. */
  readonly isHere: boolean | undefined;
  readonly role?: { readonly id: bigint; readonly name: string } | undefined;
  readonly team?: { readonly id: bigint; readonly name: string } | undefined;
  /** What is no role and no team that the caller may see. */
  readonly words?: string | undefined;
  /** On what the role is assigned, unless it is the cluster. */
  readonly on?: Assignment['on'] | undefined;
  readonly until?: string | undefined;
}

const WORDS: Readonly<Record<Reason['kind'], string>> = {
  team: 'a team that you may not see',
  role: 'a role that you may not see',
  owner: 'owner of the cluster',
  platform: 'site administrator',
};

/**
 * What a user or a robot holds a cluster through, with the assignments on it, on its set and on the organization.
 * `isComplete`: all that are on the cluster are among them.
 */
export function linesOf(
  { type = 'user', id, via = [] }: Holder,
  assignments: readonly Assignment[],
  isComplete: boolean,
): readonly AccessLine[] {
  // A role that the caller may not see may be assigned here, to a team that they may see.
  const isKnown = isComplete && !via.some((one) => one.kind === 'role' && one.id === undefined);
  const has = (kind: Reason['kind'], wanted: bigint) => via.some((one) => one.kind === kind && one.id === wanted);
  const roles = assignments.filter(({ role, to }) => {
    const isTo = to.type === 'team' ? has('team', to.id) : to.type === type && to.id === id;
    return isTo && has('role', role.id);
  });
  const lines: AccessLine[] = roles.map((one) => ({
    key: `assignment ${one.id}`,
    isHere: one.on.type === 'cluster',
    role: one.role,
    team: one.to.type === 'team' ? one.to : undefined,
    on: one.on.type === 'cluster' ? undefined : one.on,
    until: one.expires_at ?? undefined,
  }));
  for (const { kind, id: number, name } of via) {
    const key = `${kind} ${number ?? ''}`;
    const isSaid = roles.some(({ role, to }) =>
      kind === 'role' ? role.id === number : kind === 'team' && to.type === 'team' && to.id === number,
    );
    if (isSaid) continue;
    const named = number !== undefined && name !== undefined ? { id: number, name } : undefined;
    const isHere = kind === 'owner' || kind === 'platform' || (isKnown && named) ? false : undefined;
    if (named && kind === 'role') lines.push({ key, isHere, role: named });
    else if (named && kind === 'team') lines.push({ key, isHere, team: named });
    else lines.push({ key, isHere, words: WORDS[kind] });
  }
  return lines;
}
