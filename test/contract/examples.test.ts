import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { createExampleValues, isAlike, shorten } from '../support/checks/example-values.ts';
import type { TestServer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';
import {
  document,
  HOSTED_STORY,
  type NamedRequest,
  OPERATIONS,
  prepareStory,
  STORY,
  type Story,
  WRITTEN_EXAMPLES,
} from './example-story.ts';

interface Example {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly status: number;
  readonly type?: string | undefined;
  readonly response?: unknown;
}
const FILE = 'openapi/examples.json';
const IS_UPDATE = process.env.UPDATE_GOLDEN === '1';

const recorded = JSON.parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, Example>>;
describe('Examples of the API documentation', () => {
  const found: Record<string, Example> = {};
  const faults: string[] = [];
  let market: TestMarketplace;
  let hosted: TestServer;
  let story: Story;
  let values: ReturnType<typeof createExampleValues>;
  before(async () => {
    market = await openMarketplace();
    hosted = await sharedServer('hosted');
    values = createExampleValues(market.url);
    story = await prepareStory(market);
    // Somebody who is only counted.
    await market.notify('C', {}, '?secret=wrong');
  });
  after(() => market.close());

  it('Every operation has exactly one example, and every example an operation', () => {
    const names = [...STORY, ...HOSTED_STORY].map(([name]) => name);
    assert.deepEqual([...names, ...Object.keys(WRITTEN_EXAMPLES)].sort(), [...OPERATIONS.keys()].sort());
  });

  it('Each example request gets the documented status, and a response of the documented form', async () => {
    for (const named of STORY) await tryExample(market, named);
    for (const named of HOSTED_STORY) await tryExample(hosted, named);
    assert.deepEqual(faults, []);
    for (const [name, { parameters, body, status = 200, response }] of Object.entries(WRITTEN_EXAMPLES)) {
      const shown = typeof response === 'string' ? found[response]?.response : response;
      const answer = shown === undefined ? {} : { type: 'application/json', response: shown };
      found[name] = { parameters, ...(body && { body }), status, ...answer };
    }
    for (const [name, example] of Object.entries(found)) requireFitting(name, example);
    if (IS_UPDATE) {
      const inOrder = Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
      writeFileSync(FILE, `${JSON.stringify(inOrder, null, 2)}\n`);
    }
    const stale = Object.keys(found).filter((name) => !IS_UPDATE && !isAlike(found[name], recorded[name]));
    assert.deepEqual(stale, [], `${FILE} shows something else: run with UPDATE_GOLDEN=1, then npm run generate`);
  });

  it('A client that reads nothing but the headers of a response does no harm', () => {
    assert.doesNotMatch(market.logged(), /"level":"(error|fatal)"/);
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
    const request = requestOf(story.known);
    const answer = await story.send(atrium, name, request);
    if (answer.status >= 400) {
      faults.push(`${name} answered ${answer.status}: ${answer.text}`);
      return;
    }
    request.note?.(answer, story.known.created);
    if (OPERATIONS.get(name)?.method === 'GET' && !request.inBrowser) await story.leave(atrium, name, request);
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
