import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { createKeys } from '../../src/base/keys.ts';
import { createSignedTexts } from '../../src/base/signed-text.ts';
import { createConfirmationLinks } from '../../src/users/emails/confirmation-links.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing } from '../../src/vault/ring.ts';
import { type Answer, TEST_KEY, type TestServer } from '../support/server/server.ts';
import { statement } from '../support/server/statement.ts';
import { numbersOf } from '../support/world/authz.ts';
import type { TestMarketplace } from '../support/world/marketplace.ts';
import { createBrowser, originOf } from '../support/world/second-factors.ts';
import type { ExampleRequest, Known, MakeExample, WrittenExample } from './routes/route.ts';
import { ROUTES } from './routes/table.ts';

export interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

const PASSWORD = 'an example password';

export const document = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
};
export const OPERATIONS = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      operation.operationId,
      { method: method.toUpperCase(), path, operation },
    ]),
  ),
);

const OPERATION_OF = new Map(
  [...OPERATIONS].map(([name, { method, path }]) => [`${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`, name]),
);

/** An operation and its example, which may need what an earlier request has created. */
export type NamedRequest = readonly [operation: string, make: MakeExample];

const EXAMPLES = Object.entries(ROUTES).flatMap(([route, { example, on }]) => {
  const operation = OPERATION_OF.get(route) ?? `${route}, which is not in the document`;
  return example === undefined ? [] : [{ operation, example, on }];
});
const sent = (deployment?: 'hosted') =>
  EXAMPLES.flatMap(({ operation, example, on }): NamedRequest[] =>
    typeof example === 'function' && on === deployment ? [[operation, example]] : [],
  );

/** A request for each operation of a marketplace deployment, in the order in which they are sent to one server. */
export const STORY = sent();
/** The same for what only a hosted deployment has. */
export const HOSTED_STORY = sent('hosted');
export const WRITTEN_EXAMPLES: Readonly<Record<string, WrittenExample>> = Object.fromEntries(
  EXAMPLES.flatMap(({ operation, example }) => (typeof example === 'function' ? [] : [[operation, example]])),
);

export type Story = Awaited<ReturnType<typeof prepareStory>>;

/** What the requests need beyond the demo world. */
export async function prepareStory(market: TestMarketplace) {
  const known = await knownOf(market);
  const browser = createBrowser(market);
  await market.as('root')('PATCH', '/admin/users/ann', { password: PASSWORD });
  const linked = `insert into linked_account (account_id, provider, issuer, subject, email)
    select id, 'company', 'https://login.example.com/realms/company', s.subject, 'ann@example.com'
      from account, (values ('f81d4fae'), ('0a9c2e51')) as s (subject) where name = 'ann' order by s.subject desc`;
  await market.instance.db.query(statement(linked));
  Object.assign(known.created, await prepareRequests(market));
  return { known, send, leave };

  /** Reads a response no further than its headers. */
  async function leave(atrium: TestServer, name: string, request: ExampleRequest): Promise<void> {
    const { target, headers } = targetOf(atrium, name, request);
    await new Promise<void>((resolve) => {
      const sent = get(
        `${atrium.url}${target}`,
        { headers: { ...headers, 'Accept-Encoding': 'gzip' }, agent: false },
        (response) => {
          response.once('error', () => undefined);
          response.once('close', resolve);
          response.destroy();
        },
      );
      sent.once('error', () => resolve());
    });
  }

  async function send(atrium: TestServer, name: string, request: ExampleRequest): Promise<Answer> {
    const { method, target, headers } = targetOf(atrium, name, request);
    await request.before?.(browser, atrium);
    if (request.inBrowser) return await browser(method, target.replace(/^\/api\/v1/, ''), request.body);
    return await atrium.call(method, target, request.body, headers);
  }
}

function targetOf(atrium: TestServer, name: string, request: ExampleRequest) {
  const { method, path } = OPERATIONS.get(name) ?? assert.fail(`there is no operation ${name}`);
  const filled = path.replace(/\{(\w+)\}/g, (_all, parameter) => encodeURIComponent(`${request.path?.[parameter]}`));
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(request.query ?? {})) query.set(key, String(value));
  const token = request.token ?? (request.as && atrium.world.users[request.as]?.token);
  const basic = Buffer.from(`${request.as}:${PASSWORD}`).toString('base64');
  const Authorization = request.withPassword ? `Basic ${basic}` : `token ${token}`;
  const headers: Record<string, string> = token ? { Authorization } : {};
  return { method, target: query.size > 0 ? `${filled}?${query}` : filled, headers };
}

async function knownOf(market: TestMarketplace): Promise<Known> {
  const id = numbersOf(market);
  const address = 'ann.archer@example.org';
  const [email] = await market.instance.db.query<{ id: bigint }>(statement('select id from email where address = $1'), [
    address,
  ]);
  const { keys } = await openRing(createRingStore(market.instance.db), createKeys(Buffer.from(TEST_KEY, 'base64')));
  const links = createConfirmationLinks(createSignedTexts(keys.derive('email confirmation')), () => market.url);
  const link = links.make({ id: email?.id ?? 0n, address }, new Date());
  return {
    id: {
      prod: id.cluster('prod'),
      contract: id.contract('acme'),
      robot: id.robot('ci'),
      operators: id.team('operators'),
      viewers: id.team('Viewers'),
      role: id.role('cluster-operator'),
      org: id.org('acme'),
    },
    uid: market.world.clusters.prod?.uid ?? '',
    secrets: market.demo.secrets,
    installers: market.demo.installers,
    claim: market.demo.claims.claimable,
    origin: originOf(market),
    confirmationKey: new URL(link).searchParams.get('key') ?? '',
    created: {},
  };
}

/** Requests of cat, of which one will be denied, one is cancelled, and one took access in an emergency. */
async function prepareRequests(market: TestServer): Promise<Record<string, string>> {
  const rules = (list: readonly object[]) => market.as('ann')('PUT', '/orgs/acme/request_rules', list);
  const ask = async (relation: string, more: object = {}) => {
    const object = { type: 'cluster', name: 'prod' };
    const body = { relation, object, for: 'PT1H', reason: 'INC-1234', ...more };
    const answer = await market.as('cat')('POST', '/authz/requests?org=acme', body);
    assert.equal(answer.status, 201, answer.text);
    return String(answer.body.id);
  };
  const [denied, cancelled] = [await ask('can_edit'), await ask('can_remove')];
  const permissions = [{ namespace: 'cluster_mgmt', action: 'reconfigure clusters' }];
  const role = await market.as('ann')('POST', '/authz/roles?org=acme', { name: 'repair', permissions });
  assert.equal((await rules([{ name: 'emergencies', break_glass: true }])).status, 200);
  const emergency = await ask('can_edit', { object: { type: 'cluster', name: 'staging' }, break_glass: true });
  const given = await market.as('cat')('POST', `/authz/requests/${emergency}/end?org=acme`);
  assert.equal(given.status, 200, given.text);
  assert.equal((await market.as('ann')('DELETE', `/authz/roles/${role.body.id}?org=acme`)).status, 204);
  assert.equal((await rules([])).status, 200);
  return { denied, cancelled, emergency };
}
