import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createKeys } from '../../src/base/keys.ts';
import { createSignedTexts } from '../../src/base/signed-text.ts';
import { createConfirmationLinks } from '../../src/users/emails/confirmation-links.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing } from '../../src/vault/ring.ts';
import { numbersOf } from '../support/authz.ts';
import { createExampleValues, isAlike, shorten } from '../support/example-values.ts';
import { openMarketplace, type TestMarketplace } from '../support/marketplace.ts';
import { createBrowser, originOf, type TestBrowser } from '../support/second-factors.ts';
import { type Answer, TEST_KEY, type TestServer } from '../support/server.ts';
import { sharedServer } from '../support/shared-server.ts';
import { statement } from '../support/statement.ts';
import { type ExampleRequest, type Known, type NamedRequest, USER_REQUESTS } from './example-requests.ts';
import { ADMIN_REQUESTS, HOSTED_REQUESTS, WRITTEN_EXAMPLES } from './example-requests-admin.ts';
import { FACTOR_REQUESTS } from './example-requests-factors.ts';

interface Example {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly status: number;
  readonly type?: string | undefined;
  readonly response?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
type Content = Readonly<Record<string, { readonly schema: object; readonly example?: unknown }>>;

const FILE = 'openapi/examples.json';
const PASSWORD = 'an example password';
const IS_UPDATE = process.env.UPDATE_GOLDEN === '1';

const document = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
};
const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Example>>;
const OPERATIONS = new Map(
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [
      operation.operationId,
      { method: method.toUpperCase(), path, operation },
    ]),
  ),
);

describe('Examples of the API documentation', () => {
  const found: Record<string, Example> = {};
  const faults: string[] = [];
  let market: TestMarketplace;
  let hosted: TestServer;
  let known: Known;
  let browser: TestBrowser;
  let values: ReturnType<typeof createExampleValues>;
  before(async () => {
    market = await openMarketplace();
    hosted = await sharedServer('hosted');
    values = createExampleValues(market.url);
    known = await knownOf(market);
    browser = createBrowser(market);
    await market.as('root')('PATCH', '/admin/users/ann', { password: PASSWORD });
    const linked = `insert into linked_account (account_id, provider, issuer, subject, email)
      select id, 'company', 'https://login.example.com/realms/company', s.subject, 'ann@example.com'
        from account, (values ('f81d4fae'), ('0a9c2e51')) as s (subject) where name = 'ann' order by s.subject desc`;
    await market.instance.db.query(statement(linked));
    // Somebody who is only counted.
    await market.notify('C', {}, '?secret=wrong');
  });
  after(() => market.close());

  // The second factors come after the sign-in that they are added in.
  const at = USER_REQUESTS.findIndex(([name]) => name === 'signIn') + 1;
  const STORY = [...USER_REQUESTS.slice(0, at), ...FACTOR_REQUESTS, ...USER_REQUESTS.slice(at), ...ADMIN_REQUESTS];

  it('Every operation has exactly one example, and every example an operation', () => {
    const names = [...STORY, ...HOSTED_REQUESTS].map(([name]) => name);
    assert.deepEqual([...names, ...Object.keys(WRITTEN_EXAMPLES)].sort(), [...OPERATIONS.keys()].sort());
  });

  it('Each example request gets the documented status, and a response of the documented form', async () => {
    for (const named of STORY) await tryExample(market, named);
    for (const named of HOSTED_REQUESTS) await tryExample(hosted, named);
    assert.deepEqual(faults, []);
    for (const [name, { parameters, body, response }] of Object.entries(WRITTEN_EXAMPLES)) {
      const shown = typeof response === 'string' ? found[response]?.response : response;
      found[name] = { parameters, ...(body && { body }), status: 200, type: 'application/json', response: shown };
    }
    for (const [name, example] of Object.entries(found)) requireFitting(name, example);
    if (IS_UPDATE) {
      const inOrder = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
      writeFileSync(FILE, `${JSON.stringify(inOrder, null, 2)}\n`);
    }
    const stale = Object.keys(found).filter((name) => !IS_UPDATE && !isAlike(found[name], recorded[name]));
    assert.deepEqual(stale, [], `${FILE} shows something else: run with UPDATE_GOLDEN=1, then npm run generate`);
  });

  it('Examples contain nothing that looks like a secret', () => {
    const text = readFileSync(FILE, 'utf8');
    assert.deepEqual(
      text.match(/atr_(?!EXAMPLE)\w*|eyJ[\w-]{10,}|S[UAO][A-Z2-7]{50,}|PRIVATE KEY|127\.0\.0\.1/g) ?? [],
      [],
    );
  });

  const later = IS_UPDATE && 'npm run generate comes next';
  it('The document contains every recorded example', { skip: later }, () => {
    for (const [name, { status, type, response, body }] of Object.entries(recorded)) {
      const operation = OPERATIONS.get(name)?.operation;
      if (body !== undefined) assert.deepEqual(Object.values(operation?.requestBody?.content ?? {})[0]?.example, body);
      if (type === undefined || response === undefined) continue;
      assert.deepEqual(operation?.responses[status]?.content?.[type]?.example, response, name);
    }
  });

  async function tryExample(atrium: TestServer, [name, requestOf]: NamedRequest): Promise<void> {
    const request = requestOf(known);
    const answer = await send(atrium, name, request);
    if (answer.status >= 400) {
      faults.push(`${name} answered ${answer.status}: ${answer.text}`);
      return;
    }
    request.note?.(answer, known.created);
    const { path = {}, query = {}, body } = request;
    const parameters = { ...path, ...query };
    const type = answer.headers.get('content-type')?.split(';')[0];
    const isText = type !== undefined && type !== 'application/gzip' && answer.text !== '';
    const shown = type === 'application/json' ? answer.body : answer.text;
    if (type === 'application/json' && answer.text !== '')
      requireFitting(name, { status: answer.status, type, response: shown });
    found[name] = {
      ...(Object.keys(parameters).length > 0 && { parameters: values.stable(parameters) as Record<string, unknown> }),
      ...(body !== undefined && { body: values.stable(body) }),
      status: answer.status,
      ...(isText && { type, response: shorten(values.stable(shown)) }),
    };
  }

  async function send(atrium: TestServer, name: string, request: ExampleRequest): Promise<Answer> {
    const { method, path } = OPERATIONS.get(name) ?? assert.fail(`there is no operation ${name}`);
    const filled = path.replace(/\{(\w+)\}/g, (_all, parameter) => encodeURIComponent(`${request.path?.[parameter]}`));
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(request.query ?? {})) query.set(key, String(value));
    const target = query.size > 0 ? `${filled}?${query}` : filled;
    const token = request.token ?? (request.as && atrium.world.users[request.as]?.token);
    const basic = Buffer.from(`${request.as}:${PASSWORD}`).toString('base64');
    const Authorization = request.withPassword ? `Basic ${basic}` : `token ${token}`;
    await request.before?.(browser);
    if (request.inBrowser) return await browser(method, target.replace(/^\/api\/v1/, ''), request.body);
    return await atrium.call(method, target, request.body, token ? { Authorization } : {});
  }
});

/** The schemas are added once, under a name, so that compiling a response does not read all of them again. */
const ROOT = 'atrium:document';
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema({ $id: ROOT, components: document.components });
const validators = new Map<string, ReturnType<typeof ajv.compile>>();

/** The body and the response of an example fit their schemas. */
function requireFitting(name: string, { body, status, type = '', response }: Example): void {
  const { operation } = OPERATIONS.get(name) ?? assert.fail(name);
  const bodySchema = operation.requestBody?.content['application/json']?.schema;
  if (body !== undefined) requireValid(`the body of ${name}`, bodySchema, body);
  const media = operation.responses[status] ?? assert.fail(`${name} does not document ${status}`);
  if (type !== '') assert.ok(media.content?.[type], `${name} does not document ${type}`);
  if (type === 'application/json') requireValid(`the response of ${name}`, media.content?.[type]?.schema, response);
}

function requireValid(what: string, schema: object | undefined, value: unknown): void {
  assert.ok(schema, `${what} has no schema`);
  const key = JSON.stringify(schema).replaceAll('"#/components', `"${ROOT}#/components`);
  const validate = validators.get(key) ?? ajv.compile(JSON.parse(key) as object);
  validators.set(key, validate);
  assert.ok(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`);
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
