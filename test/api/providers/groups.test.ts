import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { auditOf } from '../../support/checks/audit.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { type RealProvider, startRealProvider } from '../../support/services/real-provider.ts';
import { addMember, makeOrganization, makePerson } from '../../support/world/people.ts';
import { addProvider, callIn, signInWith } from '../../support/world/provider-visits.ts';
import { newScimToken, patch, scimCaller, user } from '../../support/world/scim.ts';

const OF_PROVIDER = statement('select id from session_provider where account_id = $1');

/** Groups at a provider that mean teams here. */
describe('Groups of people who sign in with a provider', () => {
  let atrium: TestServer;
  let provider: RealProvider;
  let org: Awaited<ReturnType<typeof makeOrganization>>;
  before(async () => {
    provider = await startRealProvider();
    atrium = await openTestServer({ env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8', SCIM_DOMAINS: 'acme:acme.example' } });
    await provider.serve(atrium.url, 'company', 'second');
    org = await makeOrganization(atrium, 'ann');
    const mapping = (group: string, team: string, organization = org.name) => ({ group, organization, team });
    const group_mappings = [
      mapping('readers', 'viewers'),
      mapping('writers', 'Editors'),
      mapping('bosses', 'Owners'),
      mapping('ghosts', 'No such team'),
      mapping('ghosts', 'Viewers', 'no-such-organization'),
    ];
    for (const name of ['company', 'second']) {
      const more = { create_accounts: true, group_claim: 'groups', group_mappings, linking: 'automatic' };
      await addProvider(atrium, provider, name, more);
    }
    const teams = (await atrium.as('ann')('GET', `/orgs/${org.name}/teams`)).body as { name: string }[];
    assert.deepEqual(teams.map(({ name }) => name).sort(), ['Editors', 'Owners', 'Viewers']);
  });
  after(async () => {
    await atrium.close();
    await provider.close();
  });

  let people = 0;
  /** Somebody new, who signs in with some groups, again and again. */
  function newcomer() {
    const subject = `member${++people}`;
    const address = { email: `${subject}@example.com`, email_verified: true, preferred_username: subject };
    return { subject, signIn };

    async function signIn(groups: readonly string[] | undefined, name = 'company') {
      const person = groups === undefined ? address : { ...address, groups };
      const { page, browser } = await signInWith(atrium, provider, name, [subject, person]);
      assert.equal(page.url, `${atrium.url}/me`, page.text);
      return (await callIn(browser, atrium.url, 'GET', '/user')).body.id as number;
    }
  }
  const teamsOf = async (login: string) => {
    const { body } = await atrium.as('root')('GET', `/admin/users/${login}/teams`);
    return (body as { name: string; organization: { name: string } }[]).map(({ name }) => name).sort();
  };
  const reports = async () =>
    (await auditOf(atrium.instance.db, 0n)).filter(({ action }) => action === 'provider.groups');

  it('People are in the teams of their groups from the first sign-in on, and leave them with the groups', async () => {
    const { subject, signIn } = newcomer();
    await signIn(['readers', 'writers', 'unmapped']);
    assert.deepEqual(await teamsOf(subject), ['Editors', 'Viewers']);
    await signIn(['readers']);
    assert.deepEqual(await teamsOf(subject), ['Viewers']);
    await signIn([]);
    assert.deepEqual(await teamsOf(subject), []);
    const entries = (await auditOf(atrium.instance.db, org.id)).filter(
      ({ actor_name }) => actor_name === 'provider company',
    );
    assert.deepEqual(
      entries.slice(-4).map(({ action }) => action),
      ['team.add_member', 'team.add_member', 'team.remove_member', 'team.remove_member'],
    );
    await signIn(['readers']);
    // Somebody who has lost all groups may get no claim at all.
    await signIn(undefined);
    assert.deepEqual(await teamsOf(subject), []);
  });

  it('A membership that somebody else gave is not taken away', async () => {
    const { subject, signIn } = newcomer();
    const id = BigInt(await signIn([]));
    await addMember(atrium.instance, BigInt(org.team('Viewers')), id);
    await signIn(['readers', 'writers']);
    await signIn([]);
    assert.deepEqual(await teamsOf(subject), ['Viewers']);
  });

  it('Groups do not bring back whom SCIM has deactivated in the organization', async () => {
    const { subject, signIn } = newcomer();
    const id = await signIn(['readers']);
    const scim = scimCaller(atrium, await newScimToken(atrium, org.name, 'ann'));
    const activate = async (value: boolean) => {
      const answer = await scim('PATCH', `/Users/${id}`, patch({ op: 'replace', path: 'active', value }));
      assert.equal(answer.status, 200, answer.text);
    };
    await activate(false);
    assert.deepEqual(await teamsOf(subject), []);
    await signIn(['readers', 'writers']);
    assert.deepEqual(await teamsOf(subject), []);
    await activate(true);
    await signIn(['readers', 'writers']);
    assert.deepEqual(await teamsOf(subject), ['Editors', 'Viewers']);
  });

  it('Whom SCIM has created signs in with a provider that links by a rule, and is out with the next request', async () => {
    const scim = scimCaller(atrium, await newScimToken(atrium, 'acme', 'ann'));
    const email = 'hire@acme.example';
    const made = await scim('POST', '/Users', user(email));
    assert.equal(made.status, 201, made.text);
    const signIn = () => signInWith(atrium, provider, 'company', ['hire', { email, email_verified: true }]);
    const status = async (one: Awaited<ReturnType<typeof signIn>>) =>
      (await callIn(one.browser, atrium.url, 'GET', '/user')).status;
    const sessions = async () => (await atrium.instance.db.query(OF_PROVIDER, [BigInt(made.body.id)])).length;
    const activate = (value: boolean) =>
      scim('PATCH', `/Users/${made.body.id}`, patch({ op: 'replace', path: 'active', value }));
    const first = await signIn();
    assert.deepEqual([first.page.url, await status(first), await sessions()], [`${atrium.url}/me`, 200, 1]);
    assert.equal((await activate(false)).status, 200);
    assert.deepEqual([await status(first), await sessions()], [401, 0]);
    assert.equal((await signIn()).page.status, 403);
    assert.equal((await activate(true)).status, 200);
    assert.equal(await status(first), 401);
    assert.equal(await status(await signIn()), 200);
  });

  it('A membership that two providers gave lasts until both take it away', async () => {
    const { subject, signIn } = newcomer();
    await signIn(['readers']);
    await signIn(['readers'], 'second');
    await signIn([]);
    assert.deepEqual(await teamsOf(subject), ['Viewers']);
    await signIn([], 'second');
    assert.deepEqual(await teamsOf(subject), []);
  });

  it('A team that does not exist is ignored, reported, and shown to administrators', async () => {
    const { subject, signIn } = newcomer();
    const before = (await reports()).length;
    await signIn(['ghosts', 'readers']);
    assert.deepEqual(await teamsOf(subject), ['Viewers']);
    const found = await reports();
    assert.equal(found.length, before + 1);
    const missing = [`${org.name}/No such team`, 'no-such-organization/Viewers'];
    assert.deepEqual(JSON.parse(found.at(-1)?.after ?? '{}').missingTeams, missing);
    const { body } = await atrium.as('root')('GET', '/admin/providers/company');
    assert.deepEqual(body.missing_teams, missing);
  });

  it('The last owner of an organization stays, and signs in', async () => {
    const founder = await makePerson(atrium);
    const own = await makeOrganization(atrium, founder.name);
    await addProvider(atrium, provider, 'owners', {
      create_accounts: true,
      group_claim: 'groups',
      group_mappings: [{ group: 'bosses', organization: own.name, team: 'Owners' }],
    });
    await provider.serve(atrium.url, 'owners', 'company', 'second');
    const { subject, signIn } = newcomer();
    await signIn(['bosses'], 'owners');
    await atrium.as(founder.name)('DELETE', `/teams/${own.team('Owners')}/members/${founder.name}`);
    const before = (await reports()).length;
    await signIn([], 'owners');
    assert.deepEqual(await teamsOf(subject), ['Owners']);
    const report = JSON.parse((await reports())[before]?.after ?? '{}');
    assert.deepEqual(report.lastOwnerOfTeams, [String(own.team('Owners'))]);
  });

  it('What a guardrail refuses is recorded, what an old group gave ends all the same, and the sign-in succeeds', async () => {
    const { subject, signIn } = newcomer();
    await signIn(['readers']);
    const rule = { name: `no ${subject}`, never: { users: [subject], relation: 'can_import_clusters' } };
    const made = await atrium.as('ann')('POST', `/authz/guardrails?org=${org.name}`, rule);
    assert.equal(made.status, 201, made.text);
    const before = (await reports()).length;
    await signIn(['writers']);
    assert.deepEqual(await teamsOf(subject), []);
    const { refused } = JSON.parse((await reports())[before]?.after ?? '{}');
    assert.deepEqual(
      refused.map(({ reason }: { reason: string }) => reason),
      ['guardrail_violated'],
    );
    assert.equal((await atrium.as('ann')('DELETE', `/authz/guardrails/${made.body.id}?org=${org.name}`)).status, 204);
  });

  it('The preview of a list of groups is the list of changes that a sign-in makes', async () => {
    const { subject, signIn } = newcomer();
    await signIn(['readers']);
    const body = { groups: ['writers', 'ghosts', 'strange'], username: subject };
    const preview = (await atrium.as('root')('POST', '/admin/providers/company/preview', body)).body;
    assert.deepEqual(preview, {
      organizations: [
        {
          organization: org.name,
          changes: [
            { action: 'team.add_member', id: org.team('Editors'), username: subject },
            { action: 'team.remove_member', id: org.team('Viewers'), username: subject },
          ],
        },
      ],
      missing: [`${org.name}/No such team`, 'no-such-organization/Viewers'],
      ignored: ['strange'],
    });
    // The list is what the preview of impact takes.
    const changes = preview.organizations[0]?.changes;
    const impact = await atrium.as('root')('POST', `/authz/preview?org=${org.name}`, { changes });
    assert.equal(impact.status, 200, impact.text);
    assert.deepEqual(
      impact.body.users.map(({ user }: { user: { name: string } }) => user.name),
      [subject],
    );
    for (const [path, sent, status] of [
      ['/admin/providers/nobody/preview', body, 404],
      ['/admin/providers/company/preview', { ...body, username: 'nobody' }, 404],
      ['/admin/providers/company/preview', { groups: 'readers', username: subject }, 422],
    ] as const) {
      assert.equal((await atrium.as('root')('POST', path, sent)).status, status);
    }
  });
});
