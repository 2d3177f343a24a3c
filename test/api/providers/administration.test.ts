import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createDatabaseStore } from '../../../src/operations/doctor/database.store.ts';
import { readSettings } from '../../../src/providers/provider-settings.ts';
import { PROVIDER_SECRETS } from '../../../src/providers/providers.store.ts';
import { type Call, openQuietly, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { lastEntry } from '../../support/world/own-account.ts';

const SECRET = 'the canary of a client secret';
const NEW = { name: 'company', issuer: 'https://login.example.com/realms/x', client_id: 'atrium' };

describe('Administering providers', () => {
  let atrium: TestServer;
  let root: Call;
  before(async () => {
    const fixed = { name: 'fixed', issuer: 'https://fixed.example.com', client_id: 'atrium', client_secret: SECRET };
    atrium = await openTestServer({ env: { OIDC_PROVIDERS: JSON.stringify([fixed]) } });
    root = atrium.as('root');
  });
  after(() => atrium.close());

  it('A provider is added, read, changed and removed, and each change is recorded without its secret', async () => {
    const made = await root('POST', '/admin/providers', { ...NEW, client_secret: SECRET });
    assert.equal(made.status, 201, made.text);
    const { created_at, updated_at, id, ...shown } = made.body;
    assert.ok(id > 0 && Date.parse(created_at) > 0 && Date.parse(updated_at) > 0);
    assert.deepEqual(shown, {
      name: 'company',
      display_name: 'company',
      issuer: NEW.issuer,
      client_id: 'atrium',
      has_client_secret: true,
      scopes: ['openid', 'email', 'profile'],
      allowed_domains: [],
      create_accounts: false,
      linking: 'consent',
      trust_email: false,
      trust_second_factor: false,
      group_claim: '',
      group_mappings: [],
      missing_teams: [],
      enabled: true,
      session_hours: null,
      session_idle_minutes: null,
      recheck_minutes: null,
      allow_remember: false,
      last_logout_notice_at: null,
      last_fault_at: null,
      last_fault: null,
      origin: 'database',
      redirect_uri: `${atrium.url}/api/v1/user/signin/company/callback`,
      backchannel_logout_uri: `${atrium.url}/api/v1/user/signin/company/backchannel_logout`,
      post_logout_redirect_uri: `${atrium.url}/signin`,
    });
    assert.deepEqual(
      [(await lastEntry(atrium, 0n)).action, (await lastEntry(atrium, 0n)).is.clientId],
      ['provider.create', 'atrium'],
    );
    const change = {
      scopes: ['groups'],
      allowed_domains: ['Example.com', '*.example.org'],
      group_claim: 'groups',
      group_mappings: [{ group: 'ops', organization: 'acme', team: 'Operators' }],
      client_secret: null,
    };
    const stale = { 'If-Match': '"0-0"' };
    assert.equal((await root('PATCH', '/admin/providers/company', change, stale)).status, 412);
    const current = { 'If-Match': made.headers.get('etag') ?? '' };
    const changed = await root('PATCH', '/admin/providers/company', change, current);
    assert.equal(changed.status, 200, changed.text);
    assert.deepEqual(
      [changed.body.scopes, changed.body.allowed_domains, changed.body.has_client_secret, changed.body.missing_teams],
      [['openid', 'groups'], ['example.com', '*.example.org'], false, []],
    );
    const entry = await lastEntry(atrium, 0n);
    assert.deepEqual([entry.action, entry.is.clientSecret, entry.was.hasSecret], ['provider.update', 'changed', true]);
    assert.equal((await root('DELETE', '/admin/providers/company')).status, 204);
    assert.equal((await lastEntry(atrium, 0n)).action, 'provider.delete');
    assert.equal((await root('GET', '/admin/providers/company')).body.reason, 'provider_not_found');
  });

  it('A secret is stored sealed, and never shown, recorded or logged', async () => {
    await root('POST', '/admin/providers', { ...NEW, name: 'sealed', client_secret: SECRET });
    const [row] = await atrium.instance.db.query<{ client_secret: Buffer }>(
      statement("select client_secret from provider where name = 'sealed'"),
    );
    assert.ok(row && !row.client_secret.includes(SECRET));
    const texts = [
      (await root('GET', '/admin/providers')).text,
      (await root('GET', '/admin/providers/sealed')).text,
      (await root('GET', '/admin/providers/fixed')).text,
      (await root('GET', '/admin/audit?limit=50')).text,
      atrium.logged(),
    ];
    for (const text of texts) assert.ok(!text.includes(SECRET));
    assert.equal((await atrium.instance.rotateKeys()).damaged.length, 0);
    const known = await atrium.instance.features.providers.known('sealed');
    assert.equal(known.clientSecret, SECRET);
  });

  it('A provider without a secret is nothing that the doctor would call damaged', async () => {
    await root('POST', '/admin/providers', { ...NEW, name: 'public' });
    const store = createDatabaseStore(atrium.instance.db.query);
    const sampled = await store.sealed(PROVIDER_SECRETS, 100);
    assert.ok(sampled.length > 0);
    for (const { sealed, identity } of sampled) assert.ok(Buffer.isBuffer(sealed) && identity !== 'provider public');
  });

  const REFUSED: readonly (readonly [string, object, string])[] = [
    ['A name with capital letters', { name: 'Company' }, 'name'],
    ['A name that is a part of other addresses', { name: 'device' }, 'name'],
    ['A name of the settings', { name: 'fixed' }, 'name'],
    ['An issuer that is no URL', { issuer: 'login' }, 'issuer'],
    ['An issuer with a query', { issuer: 'https://x.example/?a=b' }, 'issuer'],
    ['An issuer with another protocol', { issuer: 'file:///etc/passwd' }, 'issuer'],
    ['An empty client ID', { client_id: '' }, 'client_id'],
    ['An empty secret', { client_secret: '' }, 'client_secret'],
    ['A scope with a space', { scopes: ['a b'] }, 'scopes'],
    ['A domain with a path', { allowed_domains: ['example.com/x'] }, 'allowed_domains'],
    ['An unknown rule of linking', { linking: 'always' }, 'linking'],
    ['A mapping without a claim', { group_mappings: [{ group: 'a', organization: 'b', team: 'c' }] }, 'group_claim'],
    ['A mapping without a team', { group_mappings: [{ group: 'a', organization: 'b' }] }, 'group_mappings.0.team'],
    [
      'A mapping with an empty group',
      { group_claim: 'x', group_mappings: [{ group: '', organization: 'b', team: 'c' }] },
      'group_mappings.group',
    ],
  ];
  for (const [what, change, field] of REFUSED) {
    it(`${what} is rejected`, async () => {
      const answer = await root('POST', '/admin/providers', { ...NEW, name: 'refused', ...change });
      assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, field], answer.text);
    });
  }

  it('A provider of the settings can be read, but not changed, removed or covered by another', async () => {
    const { body } = await root('GET', '/admin/providers/fixed');
    assert.deepEqual([body.origin, body.id, body.created_at, body.has_client_secret], ['settings', 0, null, true]);
    assert.equal((await root('PATCH', '/admin/providers/fixed', { enabled: false })).status, 409);
    assert.equal((await root('DELETE', '/admin/providers/fixed')).status, 409);
    await atrium.instance.db.query(
      statement(`insert into provider (name, display_name, issuer, client_id, scopes, allowed_domains, create_accounts, linking,
        trust_email, trust_second_factor, group_claim, group_mappings, enabled)
        values ('fixed', 'x', 'https://evil.example', 'x', '{}', '{}', true, 'automatic', true, true, '', '[]', true)`),
    );
    assert.equal((await root('GET', '/admin/providers/fixed')).body.issuer, 'https://fixed.example.com');
    const list = (await root('GET', '/admin/providers')).body as { name: string }[];
    assert.equal(list.filter(({ name }) => name === 'fixed').length, 1);
  });

  it('Only site administrators see and change providers', async () => {
    for (const [method, path, body] of [
      ['GET', '/admin/providers', undefined],
      ['POST', '/admin/providers', NEW],
      ['PATCH', '/admin/providers/fixed', {}],
    ] as const) {
      assert.equal((await atrium.as('ann')(method, path, body)).status, 403);
      assert.equal((await atrium.as()(method, path, body)).status, 401);
    }
  });

  const WRONG: readonly (readonly [unknown, RegExp])[] = [
    ['x', /\[0\] cannot be used: it must be an object/],
    [{ name: 'x' }, /\[0\] cannot be used: issuer is required/],
    [{ ...NEW, secret: 'x' }, /unknown field secret/],
    [{ ...NEW, scopes: 'openid' }, /scopes must be a list of texts/],
    [{ ...NEW, enabled: 'yes' }, /enabled must be true or false/],
    [{ ...NEW, linking: 'always' }, /linking must be one of off, consent, automatic/],
    [{ ...NEW, name: 'UPPER' }, /name must have 1 to 40 characters/],
    [{ ...NEW, group_claim: 'x', group_mappings: [{ group: 'a' }] }, /group_mappings must be a list/],
  ];
  it('A mistake in the settings stops the start, and says where it is', async () => {
    for (const [item, message] of WRONG) assert.throws(() => readSettings([item]), message);
    assert.throws(() => readSettings([NEW, NEW]), /names company twice/);
    assert.equal(readSettings([{ ...NEW, client_secret: SECRET }])[0]?.clientSecret, SECRET);
    await assert.rejects(openQuietly({ OIDC_PROVIDERS: '{}' }, []), /OIDC_PROVIDERS must be a JSON array/);
    await assert.rejects(openQuietly({ OIDC_PROVIDERS: '[' }, []), /OIDC_PROVIDERS must be a JSON array/);
  });
});
