import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { pair } from '../../support/world/assignments.ts';
import { codeIn, newAddress, openHost, PASSWORD } from '../../support/world/invitations.ts';
import { addMember, createTeam, makeOrganization, makePerson } from '../../support/world/people.ts';

const DAY_MS = 86_400_000;

describe('What is rejected about invitations', () => {
  let atrium: TestServer;
  let host: Awaited<ReturnType<typeof openHost>>;
  before(async () => {
    atrium = await openTestServer({
      env: {
        SCIM_DOMAINS: 'globex:globex.example,acme:acme.example',
        EMAIL_BLOCKED_DOMAINS: 'blocked.example',
        LIMIT_TEAMS_PER_USER: '3',
      },
    });
    host = await openHost(atrium);
  });
  after(() => atrium.close());

  const account = (username: string) => ({ username, password: PASSWORD, full_name: '' });
  const accept = async (code: string, body?: object, who?: string) =>
    await atrium.as(who)('POST', `/invitations/${code}/accept`, body);
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

  it('An invitation needs a plain address, teams of the organization, and an end within 30 days', async () => {
    const { call, path, viewers } = host;
    const other = await makeOrganization(atrium, host.owner.name);
    const email = newAddress();
    const cases: [object, number, string, string?][] = [
      [{}, 422, 'validation_failed'],
      [{ email }, 422, 'validation_failed'],
      [{ email, team_ids: [] }, 422, 'validation_failed', 'team_ids'],
      [{ email: 'nobody', team_ids: [viewers] }, 422, 'validation_failed', 'email'],
      [{ email: 'Ann <ann@example.org>', team_ids: [viewers] }, 422, 'validation_failed', 'email'],
      [{ email: 'jürgen@example.org', team_ids: [viewers] }, 422, 'validation_failed', 'email'],
      [{ email: 'ann@exämple.org', team_ids: [viewers] }, 422, 'validation_failed', 'email'],
      [{ email, team_ids: [other.team('Viewers')] }, 400, 'invalid_request'],
      [{ email, team_ids: [viewers, 999_999] }, 400, 'invalid_request'],
      [{ email, team_ids: [0] }, 400, 'invalid_request'],
      [{ email, team_ids: [viewers], expires_at: inDays(-1) }, 422, 'validation_failed', 'expires_at'],
      [{ email, team_ids: [viewers], expires_at: inDays(30.1) }, 422, 'validation_failed', 'expires_at'],
      [{ email, team_ids: [viewers], message: 'x'.repeat(501) }, 422, 'validation_failed', 'message'],
      [{ email, team_ids: [viewers], message: 'a\u0007b' }, 422, 'validation_failed', 'message'],
    ];
    for (const [body, status, reason, field] of cases) {
      const answer = await call('POST', path, body);
      assert.deepEqual([answer.status, answer.body.reason], [status, reason], JSON.stringify(body));
      if (field !== undefined) assert.equal(answer.body.errors[0].field, field);
    }
    const most = await call('POST', path, {
      email,
      team_ids: [viewers],
      expires_at: inDays(29.9),
      message: 'x'.repeat(500),
    });
    assert.equal(most.status, 201, most.text);
  });

  it('A second open invitation to the same address is rejected, in whatever case it is written', async () => {
    const { call, path, viewers, invite } = host;
    const { email } = await invite(newAddress());
    const again = await call('POST', path, { email: email.toUpperCase(), team_ids: [viewers] });
    assert.deepEqual([again.status, again.body.reason], [409, 'already_invited']);
  });

  it('Inviting needs what adding to each team needs, and shows nothing to other callers', async () => {
    const { call, org, path, viewers } = host;
    const [member, stranger] = [await makePerson(atrium), await makePerson(atrium)];
    await addMember(atrium.instance, BigInt(viewers), member.id);
    const body = { email: newAddress(), team_ids: [viewers] };
    const asMember = await atrium.as(member.name)('POST', path, body);
    assert.deepEqual([asMember.status, asMember.body.reason], [403, 'missing_relation']);
    const asStranger = await atrium.as(stranger.name)('POST', path, body);
    assert.deepEqual([asStranger.status, asStranger.body.reason], [404, 'organization_not_found']);
    assert.equal((await atrium.as()('POST', path, body)).status, 401);
    // An editor gives what editors hold, and cannot make owners.
    const editor = await makePerson(atrium);
    await addMember(atrium.instance, BigInt(org.team('Editors')), editor.id);
    assert.equal((await atrium.as(editor.name)('POST', path, body)).status, 201);
    const owners = await atrium.as(editor.name)('POST', path, { email: newAddress(), team_ids: [org.team('Owners')] });
    assert.equal(owners.status, 403, owners.text);
    const made = (await call('GET', path)).body.find((one: { email: string }) => one.email === body.email);
    for (const [method, rest] of [
      ['DELETE', `/${made.id}`],
      ['POST', `/${made.id}/resend`],
    ] as const) {
      const answer = await atrium.as(member.name)(method, `${path}${rest}`);
      assert.deepEqual([answer.status, answer.body.reason], [404, 'invitation_not_found']);
    }
    assert.deepEqual((await atrium.as(member.name)('GET', path)).body, []);
  });

  it('Nobody invites to what a team has on single objects unless they hold it there themselves', async () => {
    const { call, org, path } = host;
    const manager = await makePerson(atrium);
    const managers = await createTeam(atrium.instance, {
      organizationId: org.id,
      name: 'managers',
      permission: 'none',
    });
    const crew = await createTeam(atrium.instance, { organizationId: org.id, name: 'crew', permission: 'none' });
    await addMember(atrium.instance, managers, manager.id);
    const make = async (at: string, body: object) => {
      const answer = await call('POST', at, body);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    };
    const wanted = ['add members', 'manage team members', 'view teams'].map((action) => pair(`org_mgmt ${action}`));
    await make(`/authz/roles?org=${org.name}`, { name: 'managing', permissions: wanted, teamIDs: [Number(managers)] });
    const permissions = [pair('cluster_mgmt view clusters'), pair('cluster_mgmt connect to clusters')];
    const operating = await make(`/authz/roles?org=${org.name}`, { name: 'operating', permissions });
    const uid = '6b1d3f3e-0f1e-4b52-9d0e-7a0c4a3f9d11';
    const prod = await make(`/orgs/${org.name}/clusters`, { name: 'prod', uid });
    const body = { email: newAddress(), team_ids: [Number(crew)] };
    const before = await atrium.as(manager.name)('POST', `${path}?show_link=true`, body);
    assert.equal(before.status, 201, before.text);
    const to = { type: 'team', id: Number(crew) };
    await make(`/authz/assignments?org=${org.name}`, {
      role: { id: operating.id },
      to,
      on: { type: 'cluster', id: prod.id },
    });
    const later = await atrium.as(manager.name)('POST', path, { ...body, email: newAddress() });
    assert.deepEqual([later.status, later.body.reason], [403, 'escalation']);
    // What the team got after the invitation counts when it is accepted.
    const code = codeIn(before.body.link);
    const accepted = await accept(code, account('lateescalation'));
    assert.deepEqual([accepted.status, accepted.body.reason], [409, 'inviter_may_not']);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${code}`)).status, 200);
  });

  it('Only a known code works, and only once', async () => {
    const { invite } = host;
    const { code } = await invite(newAddress());
    const wrong = [
      code.slice(1),
      `${code}x`,
      code.toLowerCase() === code ? `${code.slice(0, -1)}_` : code.toLowerCase(),
      'x',
    ];
    for (const text of wrong) {
      for (const answer of [await atrium.as()('GET', `/invitations/${text}`), await accept(text, account('guesser'))]) {
        assert.deepEqual([answer.status, answer.body.reason], [404, 'invitation_not_found']);
      }
    }
    assert.equal((await accept(code, account('firstuse'))).status, 201);
    for (const answer of [await accept(code, account('seconduse')), await accept(code, {}, host.owner.name)]) {
      assert.deepEqual([answer.status, answer.body.reason], [410, 'invitation_used']);
    }
  });

  it('An expired invitation is gone, and can be sent again', async () => {
    const { call, path, invite } = host;
    const { id, code } = await invite(newAddress(), { expires_at: new Date(Date.now() + 700).toISOString() });
    await new Promise((resolve) => setTimeout(resolve, 900));
    for (const answer of [await atrium.as()('GET', `/invitations/${code}`), await accept(code, account('toolate'))]) {
      assert.deepEqual([answer.status, answer.body.reason], [410, 'invitation_expired']);
    }
    const listed = (await call('GET', `${path}?state=expired`)).body;
    assert.ok(listed.some((one: { id: number }) => one.id === id));
    assert.equal((await call('POST', `${path}/${id}/resend`)).status, 200);
  });

  it('A new account needs a name, a password and an address of its own', async () => {
    const { invite } = host;
    const { code } = await invite(newAddress());
    const cases: [object, string, string][] = [
      [{}, 'username', 'validation_failed'],
      [{ username: 'nopassword' }, 'username', 'validation_failed'],
      [{ username: 'admin', password: PASSWORD }, 'username', 'validation_failed'],
      [{ username: '-', password: PASSWORD }, 'username', 'validation_failed'],
      [{ username: 'ann', password: PASSWORD }, 'username', 'name_taken'],
      [{ username: host.org.name.toUpperCase(), password: PASSWORD }, 'username', 'name_taken'],
      [{ username: 'ACME', password: PASSWORD }, 'username', 'name_reserved'],
      [{ username: 'globex', password: PASSWORD }, 'username', 'name_reserved'],
      [{ username: 'shortpassword', password: 'short' }, 'password', 'validation_failed'],
    ];
    for (const [body, field, reason] of cases) {
      const answer = await accept(code, body);
      assert.deepEqual([answer.status, answer.body.errors?.[0].field, answer.body.reason], [422, field, reason]);
    }
    const person = await makePerson(atrium);
    const taken = await invite(`${person.name}@EXAMPLE.com`);
    const answer = await accept(taken.code, account('takesover'));
    assert.deepEqual([answer.status, answer.body.reason], [409, 'email_taken']);
    assert.equal((await accept(taken.code, {}, person.name)).status, 200);
  });

  it('Domains that are blocked, or managed by another organization, get no account, but users who exist join', async () => {
    const { invite } = host;
    const cases = [
      ['zoe@blocked.example', 422, 'domain_not_allowed'],
      ['zoe@globex.example', 409, 'domain_managed'],
    ] as const;
    for (const [email, status, reason] of cases) {
      const { code } = await invite(email);
      const answer = await accept(code, account('domainuser'));
      assert.deepEqual([answer.status, answer.body.reason], [status, reason]);
      const person = await makePerson(atrium);
      assert.equal((await accept(code, { other_address: true }, person.name)).status, 200);
    }
  });

  it('A member cannot accept, and neither can an account without the verified address join admins or owners', async () => {
    const { invite, org, viewers, owner } = host;
    const { code } = await invite(newAddress());
    const asOwner = await accept(code, { other_address: true }, owner.name);
    assert.deepEqual([asOwner.status, asOwner.body.reason], [409, 'already_member']);
    const person = await makePerson(atrium);
    const admins = await createTeam(atrium.instance, { organizationId: org.id, name: 'admins', permission: 'admin' });
    for (const team of [org.team('Owners'), Number(admins)]) {
      const powerful = await invite(newAddress(), { team_ids: [viewers, team] });
      const answer = await accept(powerful.code, { other_address: true }, person.name);
      assert.deepEqual([answer.status, answer.body.reason], [403, 'other_address']);
    }
    const own = await invite(`${person.name}@example.com`, { team_ids: [Number(admins)] });
    assert.equal((await accept(own.code, {}, person.name)).status, 200);
  });

  it('Whoever cannot invite any more has invited nobody, and the invitation stays', async () => {
    const { call, org, path, viewers } = host;
    const makeEditor = async () => {
      const editor = await makePerson(atrium);
      await addMember(atrium.instance, BigInt(org.team('Editors')), editor.id);
      return editor;
    };
    const endings: [string, (name: string) => Promise<number>][] = [
      ['demoted', async (name) => (await call('DELETE', `/teams/${org.team('Editors')}/members/${name}`)).status],
      ['left', async (name) => (await atrium.as(name)('DELETE', `/orgs/${org.name}/members/${name}`)).status],
      [
        'inactive',
        async (name) => (await atrium.as('root')('PATCH', `/admin/users/${name}`, { active: false })).status,
      ],
      ['deleted', async (name) => (await atrium.as('root')('DELETE', `/admin/users/${name}`)).status],
    ];
    for (const [what, end] of endings) {
      const editor = await makeEditor();
      if (what === 'demoted') await addMember(atrium.instance, BigInt(viewers), editor.id);
      const { code } = await host.invite(newAddress(), {}, editor.name);
      assert.ok([200, 204].includes(await end(editor.name)), what);
      const person = await makePerson(atrium);
      for (const answer of [
        await accept(code, account(`by${what}`)),
        await accept(code, { other_address: true }, person.name),
      ]) {
        assert.deepEqual([what, answer.status, answer.body.reason], [what, 409, 'inviter_may_not']);
      }
      const seen = await atrium.call('GET', `/api/v1/invitations/${code}`);
      assert.equal(seen.status, 200);
      if (what === 'deleted') assert.equal(seen.body.invited_by, null);
    }
    // Whoever sends it again answers for it from then on.
    const open = (await call('GET', `${path}?state=open`)).body.find(
      (one: { invited_by: object | null }) => one.invited_by === null,
    );
    const resent = await call('POST', `${path}/${open.id}/resend`);
    assert.equal(resent.body.invited_by.name, host.owner.name);
    assert.equal((await accept(codeIn(resent.body.link), account('afterall'))).status, 201);
  });

  it('A team that is gone is left out, and without any team nobody may join', async () => {
    const { call, org, invite, viewers } = host;
    const crew = await createTeam(atrium.instance, { organizationId: org.id, name: 'shortlived', permission: 'none' });
    const [both, one] = [
      await invite(newAddress(), { team_ids: [Number(crew), viewers] }),
      await invite(newAddress(), { team_ids: [Number(crew)] }),
    ];
    assert.equal((await call('DELETE', `/teams/${crew}`)).status, 204);
    const joined = await accept(both.code, account('oneteamless'));
    assert.equal(joined.status, 201, joined.text);
    const none = await accept(one.code, account('noteamleft'));
    assert.deepEqual([none.status, none.body.reason], [409, 'inviter_may_not']);
  });

  it('An organization that is gone takes its invitations with it', async () => {
    const other = await openHost(atrium);
    const { code } = await other.invite(newAddress());
    assert.equal((await other.call('DELETE', `/orgs/${other.org.name}`)).status, 204);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${code}`)).status, 404);
  });

  it('A guardrail or a limit keeps a user out, and the invitation stays', async () => {
    const other = await openHost(atrium);
    const { call, org, viewers, invite } = other;
    const guardrail = await call('POST', `/authz/guardrails?org=${org.name}`, {
      name: 'one owner',
      at_most: { count: 1, relation: 'can_delete' },
    });
    assert.equal(guardrail.status, 201, guardrail.text);
    const { code } = await invite(newAddress(), { team_ids: [org.team('Owners')] });
    const refused = await accept(code, account('secondowner'));
    assert.deepEqual([refused.status, refused.body.reason], [409, 'guardrail_violated']);
    assert.equal((await atrium.call('GET', '/api/v1/users/secondowner', undefined, {})).status, 401);
    assert.equal((await atrium.as('root')('GET', '/users/secondowner')).status, 404);
    const teams = [viewers];
    for (const name of ['one', 'two', 'three']) {
      teams.push(Number(await createTeam(atrium.instance, { organizationId: org.id, name, permission: 'none' })));
    }
    const many = await invite(newAddress(), { team_ids: teams });
    const full = await accept(many.code, account('toomanyteams'));
    assert.deepEqual([full.status, full.body.reason], [422, 'limit_reached']);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${many.code}`)).status, 200);
  });

  it('A credential that is not valid is no absence of one, and only users accept, for themselves', async () => {
    const { call, org, invite } = host;
    const { code } = await invite(newAddress());
    const at = `/api/v1/invitations/${code}/accept`;
    for (const headers of [
      { Authorization: 'token atr_nonsense' },
      { Authorization: 'nonsense' },
      { Authorization: 'Basic !!!' },
      { Cookie: 'atrium_session=nonsense' },
    ] as Record<string, string>[]) {
      const answer = await atrium.call('POST', at, account('badcredential'), headers);
      assert.deepEqual([answer.status, answer.body.reason], [401, 'unauthenticated'], JSON.stringify(headers));
    }
    const robot = await call('POST', `/orgs/${org.name}/robots`, { name: 'joiner' });
    const token = await call('POST', `/robots/${robot.body.id}/tokens`, { name: 'x', scopes: ['all'] });
    const asRobot = await atrium.call('POST', at, {}, { Authorization: `token ${token.body.sha1}` });
    assert.deepEqual([asRobot.status, asRobot.body.reason], [403, 'not_for_robots']);
    const asOther = await atrium.as('root')('POST', `/invitations/${code}/accept?sudo=bob`, { other_address: true });
    assert.deepEqual([asOther.status, asOther.body.reason], [403, 'sudo_forbidden']);
    const person = await makePerson(atrium);
    const narrow = await atrium.instance.identity.tokens.issue({
      accountId: person.id,
      name: 'narrow',
      scopes: ['write:organization', 'write:user'],
    });
    const asNarrow = await atrium.call('POST', at, {}, { Authorization: `token ${narrow.text}` });
    assert.equal(asNarrow.status, 403, asNarrow.text);
  });

  it('No code is in the log, in the audit log or in lists', async () => {
    const { call, org, path, invite } = host;
    const { id, code } = await invite(newAddress());
    await atrium.call('GET', `/invitations/${code}`);
    await atrium.call('GET', `/api/v1/invitations/${code}`);
    const person = await makePerson(atrium);
    await accept(code, {}, person.name);
    await atrium.as('root')('POST', `/invitations/${code}/accept?sudo=bob`, {});
    await call('DELETE', `${path}/${id}`);
    await accept(code, account('logged'));
    assert.ok(!atrium.logged().includes(code));
    for (const chain of [`/orgs/${org.name}/audit?limit=50`, path]) {
      assert.ok(!(await call('GET', chain)).text.includes(code));
    }
    assert.ok(!(await atrium.as('root')('GET', '/admin/audit?limit=50')).text.includes(code));
  });
});

describe('Guessing the codes of invitations', () => {
  it('Wrong codes are counted by network, and then even a right one has to wait', async (t) => {
    const atrium = await openTestServer();
    t.after(() => atrium.close());
    const { invite } = await openHost(atrium);
    const { code } = await invite(newAddress());
    const statuses = new Map<number, number>();
    for (let guess = 0; guess < 80; guess++) {
      const path = `/api/v1/invitations/${String(guess).padStart(32, 'a')}`;
      const { status, headers } = await atrium.call(
        guess % 2 ? 'POST' : 'GET',
        guess % 2 ? `${path}/accept` : path,
        guess % 2 ? {} : undefined,
      );
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status === 429) assert.ok(Number(headers.get('retry-after')) > 0);
    }
    assert.deepEqual([...statuses.keys()].sort(), [404, 429]);
    assert.ok((statuses.get(404) ?? 0) <= 52);
    assert.equal((await atrium.call('GET', `/api/v1/invitations/${code}`)).status, 429);
  });
});
