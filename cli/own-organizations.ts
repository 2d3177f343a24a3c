import type { Client } from '../client/client.ts';
import { ApiError } from '../client/errors.ts';

/** The names of the organizations that the user is in. A robot works for one. */
export async function ownOrganizations(client: Client): Promise<string[]> {
  try {
    return (await client.call('GET /user/settings/organizations')).map(({ username }) => username);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== 'not_for_robots') throw error;
    return (await client.call('GET /user/orgs')).map(({ username }) => username);
  }
}
