import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { newAddress, openHost, PASSWORD } from '../../support/world/invitations.ts';
import { createTeam, makePerson } from '../../support/world/people.ts';

describe('Invitations without a mail server', () => {
  let atrium: TestServer;
  let host: Awaited<ReturnType<typeof openHost>>;
  before(async () => {
    atrium = await openTestServer();
    host = await openHost(atrium);
  });
  after(() => atrium.close());

  it('An invitation has a link, for seven days, and the list shows it without the link', async () => {
    const { call, path, org, owner, viewers } = host;
    const email = newAddress();
    const before = Date.now();
    const { status, body, text } = await call('POST', path, { email, team_ids: [viewers], message: 'Welcome' });
    assert.equal(status, 201, text);
    const { id, created_at, expires_at, link, ...rest } = body;
    const organization = { type: 'organization', id: Number(org.id), name: org.name };
    assert.deepEqual(rest, {
      organization,
      email,
      state: 'open',
      teams: [{ type: 'team', id: viewers, name: 'Viewers' }],
      message: 'Welcome',
      invited_by: { type: 'user', id: Number(owner.id), name: owner.name },
    });
    const days = (Date.parse(expires_at) - before) / 86_400_000;
    assert.ok(days > 6.99 && days < 7.01, expires_at);
    assert.match(link, /^http:\/\/127\.0\.0\.1:\d+\/invitations\/[\w-]{32}$/);
    const listed = (await call('GET', path)).body.find((one: { id: number }) => one.id === id);
    assert.deepEqual(listed, { id, created_at, expires_at, ...rest });
  });

  it('Everybody who has the link sees the organization, the inviter and the address', async () => {
    const { org, owner, invite } = host;
    const { email, code, expires_at } = await invite(newAddress(), { message: 'Hello' });
    const answer = await atrium.call('GET', `/api/v1/invitations/${code}`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, {
      organization: { type: 'organization', id: Number(org.id), name: org.name },
      invited_by: { type: 'user', id: Number(owner.id), name: owner.name },
      email,
      message: 'Hello',
      expires_at,
    });
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
  });

  it('Without a credential, accepting creates an account that is in the teams, and opens no session', async () => {
    const { call, org, path, invite } = host;
    const { id, email, code } = await invite(newAddress());
    const account = { username: 'newcomer', password: PASSWORD, full_name: 'New Comer' };
    const answer = await atrium.call('POST', `/api/v1/invitations/${code}/accept`, account);
    assert.equal(answer.status, 201, answer.text);
    const { login, full_name, email: address } = answer.body;
    assert.deepEqual([login, full_name, address], ['newcomer', 'New Comer', email]);
    assert.equal(answer.headers.get('set-cookie'), null);
    assert.equal((await call('GET', `/orgs/${org.name}/members/newcomer`)).status, 204);
    const listed = (await call('GET', path)).body.find((one: { id: number }) => one.id === id);
    assert.equal(listed.state, 'accepted');
    assert.deepEqual(listed.accepted_by, { type: 'user', id: answer.body.id, name: 'newcomer' });
    const basic = `Basic ${Buffer.from(`newcomer:${PASSWORD}`).toString('base64')}`;
    const emails = await atrium.call('GET', '/api/v1/user/emails', undefined, { authorization: basic });
    assert.deepEqual(emails.body, [{ email, verified: false, primary: true }]);
    const again = await atrium.call('GET', `/api/v1/invitations/${code}`);
    assert.deepEqual([again.status, again.body.reason], [410, 'invitation_used']);
  });

  it('A signed-in user with the verified address joins all teams, and access is there with the next request', async () => {
    const { org, invite, viewers } = host;
    const crew = await createTeam(atrium.instance, { organizationId: org.id, name: 'crew', permission: 'read' });
    const person = await makePerson(atrium);
    const { code } = await invite(`${person.name.toUpperCase()}@Example.com`, { team_ids: [Number(crew), viewers] });
    const answer = await atrium.as(person.name)('POST', `/invitations/${code}/accept`);
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body, {
      organization: { type: 'organization', id: Number(org.id), name: org.name },
      teams: [
        { type: 'team', id: viewers, name: 'Viewers' },
        { type: 'team', id: Number(crew), name: 'crew' },
      ],
    });
    assert.equal((await atrium.as(person.name)('GET', `/orgs/${org.name}`)).status, 200);
  });

  it('An account with another address joins only if the request says so', async () => {
    const { invite } = host;
    const person = await makePerson(atrium);
    const { code } = await invite(newAddress());
    const asked = await atrium.as(person.name)('POST', `/invitations/${code}/accept`);
    assert.deepEqual([asked.status, asked.body.reason], [409, 'other_address']);
    const done = await atrium.as(person.name)('POST', `/invitations/${code}/accept`, { other_address: true });
    assert.equal(done.status, 200, done.text);
  });

  it('A new code ends the old one, and the end moves by the first length', async () => {
    const { call, path, invite } = host;
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    const { id, code } = await invite(newAddress(), { expires_at });
    const resent = await call('POST', `${path}/${id}/resend`);
    assert.equal(resent.status, 200, resent.text);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${code}`)).status, 404);
    const fresh = resent.body.link.split('/').at(-1);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${fresh}`)).status, 200);
    const moved = Date.parse(resent.body.expires_at) - Date.now();
    assert.ok(moved > 3_590_000 && moved <= 3_600_500, resent.body.expires_at);
    assert.ok(resent.body.expires_at >= expires_at);
  });

  it('A revoked invitation is gone like one that never was', async () => {
    const { call, path, invite } = host;
    const { id, code } = await invite(newAddress());
    assert.equal((await call('DELETE', `${path}/${id}`)).status, 204);
    assert.equal((await call('DELETE', `${path}/${id}`)).status, 404);
    const answer = await atrium.call('GET', `/api/v1/invitations/${code}`);
    assert.deepEqual([answer.status, answer.body.reason], [404, 'invitation_not_found']);
  });

  it('The audit log has who invited whom, who joined, and no code', async () => {
    const { call, org, owner, invite } = host;
    const { id, email, code } = await invite(newAddress());
    const account = { username: 'audited', password: PASSWORD, full_name: '' };
    assert.equal((await atrium.call('POST', `/api/v1/invitations/${code}/accept`, account)).status, 201);
    const { text, body } = await call('GET', `/orgs/${org.name}/audit?limit=50`);
    const found = (
      body.items as { action: string; object: { type: string; id: number }; actor: { name: string } }[]
    ).filter(({ object }) => object.type === 'invitation' && object.id === id);
    assert.deepEqual(found.map(({ action, actor }) => [action, actor.name]).sort(), [
      ['invitation.accept', 'audited'],
      ['invitation.create', owner.name],
    ]);
    assert.match(text, new RegExp(`audited accepted the invitation of ${email} by ${owner.name}`));
    assert.ok(!text.includes(code));
  });
});
