import assert from 'node:assert/strict';
import type { TestServer } from '../server/server.ts';
import { makeOrganization, makePerson } from './people.ts';

let made = 0;

export const newAddress = () => `invited${++made}@example.net`;
export const PASSWORD = 'correct horse battery';

/** An organization with an owner, and what inviting to it needs. */
export async function openHost(atrium: TestServer) {
  const owner = await makePerson(atrium);
  const org = await makeOrganization(atrium, owner.name);
  const path = `/orgs/${org.name}/invitations`;
  const viewers = org.team('Viewers');
  const invite = async (email: string, more: object = {}, who = owner.name) => {
    const answer = await atrium.as(who)('POST', `${path}?show_link=true`, { email, team_ids: [viewers], ...more });
    assert.equal(answer.status, 201, answer.text);
    return { ...answer.body, code: codeIn(answer.body.link) } as InvitedBody & { code: string };
  };
  return { owner, org, path, viewers, invite, call: atrium.as(owner.name) };
}

export interface InvitedBody {
  readonly id: number;
  readonly email: string;
  readonly link: string;
  readonly expires_at: string;
}

export function codeIn(link: string): string {
  return /\/invitations\/([\w-]{32})$/.exec(link)?.[1] ?? assert.fail(`no code in ${link}`);
}

/** Open invitations, for the test of the limits of every list. */
export const INVITATION_LIST = {
  limit: 'invitationsPerOrganization',
  size: 'select count(*)::integer as n from invitation where organization_id = $1',
  grow: async (atrium: TestServer, { user, org }: { readonly user: string; readonly org: string }, name: string) => {
    const { body: teams } = await atrium.as(user)('GET', `/orgs/${org}/teams`);
    const body = { email: `${name}@example.net`, team_ids: [teams[0].id] };
    return await atrium.as(user)('POST', `/orgs/${org}/invitations`, body);
  },
} as const;
