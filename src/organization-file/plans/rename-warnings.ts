import { quote } from './file-change.ts';
import type { OrganizationPlan } from './organization-plan.ts';

/** What is deleted next to something new that is the same but for its name: its IDs, members and assignments would go. */
export function renameWarnings({ teams, roles: { roles } }: OrganizationPlan): string[] {
  const created = teams.teams.filter(({ current }) => !current);
  const teamPairs = teams.deletes.flatMap(({ name, members }) => {
    const people = idsOf(members.map(({ id }) => id));
    const same = created.find(({ joins }) => people !== '' && idsOf(joins.map(({ account }) => account.id)) === people);
    return same ? [['team', name, same.name] as const] : [];
  });
  const rolePairs = roles.deletes.flatMap(({ name, permissions }) => {
    const same = roles.creates.find(
      (one) => permissions.length > 0 && namesOf(one.permissions) === namesOf(permissions),
    );
    return same ? [['role', name, same.name] as const] : [];
  });
  return [...teamPairs, ...rolePairs].map(
    ([kind, old, name]) =>
      `the ${kind} ${quote(name)} looks like ${quote(old)} with a new name: was: ${quote(old)} would keep what it has`,
  );
}

function idsOf(ids: readonly bigint[]): string {
  return ids.map(String).sort().join();
}

function namesOf(permissions: readonly { readonly relation: string }[]): string {
  return permissions
    .map(({ relation }) => relation)
    .sort()
    .join();
}
