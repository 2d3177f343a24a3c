import type { Item } from '../../../../client/client.ts';

export type Holder = Item<'GET /authz/objects/{objectType}/{objID}/principals'>;

/** People who can for the same reason. One who can for two reasons is in two groups. */
export interface ReasonGroup {
  readonly key: string;
  /** "team Editors" */
  readonly label: string;
  readonly people: readonly Holder[];
}

/** The largest group first. A member who has a role through a team is in the group of the team. */
export function groupsOf(people: readonly Holder[]): readonly ReasonGroup[] {
  const groups = new Map<string, { label: string; people: Holder[] }>();
  for (const person of people) {
    const via = person.via ?? [];
    const hasTeam = via.some(({ kind }) => kind === 'team');
    for (const { kind, id, name } of via) {
      if (kind === 'role' && hasTeam) continue;
      const key = `${kind}:${id ?? ''}`;
      const group = groups.get(key) ?? { label: labelOf(kind, name), people: [] };
      group.people.push(person);
      groups.set(key, group);
    }
  }
  return [...groups]
    .map(([key, group]) => ({ key, ...group }))
    .sort((one, other) => other.people.length - one.people.length || one.label.localeCompare(other.label));
}

/** Through what one person can: "role deployer, team operators". */
export function reasonsOf({ via = [] }: Holder): string {
  return via.map(({ kind, name }) => labelOf(kind, name)).join(', ');
}

function labelOf(kind: NonNullable<Holder['via']>[number]['kind'], name: string | undefined): string {
  if (kind === 'platform') return 'site administrators';
  if (kind === 'owner') return 'its owner';
  return name === undefined ? `a ${kind} that you may not see` : `${kind} ${name}`;
}
