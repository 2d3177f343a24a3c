import { type KubernetesRelation, PROTECTED_NAMESPACES } from '../kubernetes/verb-table.ts';
import type { RoleName, WantedBinding } from './rbac.ts';

/** What a user should hold, as `GET /clusters/{id}/bindings` says. */
export interface Holding {
  readonly user: string;
  readonly relation: string;
  readonly namespaces: readonly string[] | null;
  readonly expires_at: string | null;
}

/** The role in the whole cluster, and in one namespace. RBAC cannot exclude the protected namespaces. */
const WIDE: Partial<Record<KubernetesRelation, RoleName>> = {
  can_view: 'atrium:view',
  can_administer: 'atrium:administer',
};
const INSIDE: Record<KubernetesRelation, RoleName> = {
  can_view: 'atrium:view',
  can_connect: 'atrium:connect',
  can_edit: 'atrium:edit',
  can_administer: 'atrium:administer-namespace',
};

/**
 * 1. What has ended counts no more.
 * 2. Beyond `can_view`, only `can_administer` has an effect in protected namespaces. So who holds `can_connect` or
 *    `can_edit` in the whole cluster gets it in every other namespace.
 * 3. Everyone who holds anything may ask for versions, resources, and what they may do.
 */
export function wantedBindings(
  holdings: readonly Holding[],
  namespaces: readonly string[],
  now: Date,
  ownNamespace: string,
): WantedBinding[] {
  const kept = holdings.filter(({ expires_at: end }) => end === null || Date.parse(end) > now.getTime());
  const isProtected = new Set<string>([...PROTECTED_NAMESPACES, ownNamespace]);
  const users = new Map<string, { role: RoleName; namespace: string | undefined; users: Set<string> }>();
  for (const { user, relation, namespaces: named } of kept) {
    if (!isRelation(relation)) continue;
    give('atrium:basic', undefined, user);
    const wide = named === null ? WIDE[relation] : undefined;
    if (wide !== undefined) give(wide, undefined, user);
    else
      for (const namespace of namespaces)
        if (named === null || isNamed(named, namespace)) inside(relation, namespace, user);
  }
  return [...users.values()].map((one) => ({ ...one, users: [...one.users].sort() }));

  function inside(relation: KubernetesRelation, namespace: string, user: string): void {
    const isFree = relation === 'can_view' || relation === 'can_administer';
    if (isFree || !isProtected.has(namespace)) give(INSIDE[relation], namespace, user);
  }

  function give(role: RoleName, namespace: string | undefined, user: string): void {
    const key = `${role} ${namespace ?? ''}`;
    const binding = users.get(key) ?? { role, namespace, users: new Set() };
    users.set(key, binding);
    binding.users.add(user);
  }
}

/** When the next of them ends, in milliseconds; infinite if none does. */
export function nextEnd(holdings: readonly Holding[], now: Date): number {
  const ends = holdings.flatMap(({ expires_at: end }) => (end === null ? [] : [Date.parse(end)]));
  return Math.min(...ends.filter((end) => end > now.getTime()), Number.POSITIVE_INFINITY);
}

function isRelation(text: string): text is KubernetesRelation {
  return Object.hasOwn(INSIDE, text);
}

function isNamed(names: readonly string[], namespace: string): boolean {
  return names.some((name) => (name.endsWith('*') ? namespace.startsWith(name.slice(0, -1)) : namespace === name));
}
