import type { TestServer } from '../server/server.ts';
import { makeOrganization, makePerson } from './people.ts';

/** Whose list a test makes longer. */
export interface Owner {
  readonly user: string;
  readonly id: bigint;
  readonly org: string;
  readonly others: readonly string[];
}

export async function organization(atrium: TestServer): Promise<Owner> {
  const { name: user } = await makePerson(atrium);
  const { name: org, id } = await makeOrganization(atrium, user);
  return { user, org, id, others: [] };
}

export async function person(atrium: TestServer): Promise<Owner> {
  const { name: user, id } = await makePerson(atrium);
  return { user, id, org: '', others: [] };
}

/** A robot of a new organization. */
export async function robot(atrium: TestServer): Promise<Owner> {
  const owner = await organization(atrium);
  const { body } = await atrium.as(owner.user)('POST', `/orgs/${owner.org}/robots`, { name: 'robot' });
  return { ...owner, id: BigInt(body.id) };
}
