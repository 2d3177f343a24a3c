import type { TestHouse } from './house.ts';

let made = 0;

/** Somebody new who is in no organization; `house.as(name)` calls as them. */
export async function makePerson({ house, world }: TestHouse, traits: { isAdmin?: boolean } = {}) {
  const name = `person${++made}`;
  const id = await house.people.create({ name, email: `${name}@example.com`, ...traits });
  const { text } = await house.tokens.issue({ accountId: id, name: 'test', scopes: ['all'] });
  world.users[name] = { id, token: text };
  return { name, id, token: text };
}

/** An organization of their own for somebody; its teams by name. */
export async function makeOrganization({ house, world }: TestHouse, founder: string) {
  const name = `org${++made}`;
  const { id, teams } = await house.organizations.create({ name, founderId: world.users[founder]?.id ?? 0n });
  world.orgs[name] = { id, teams: Object.fromEntries(teams), roles: {} };
  return { name, id, team: (team: string) => Number(teams.get(team)) };
}
