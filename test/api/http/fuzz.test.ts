import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { COUNTS, IS_LONG } from '../../counts.ts';
import { progress } from '../../support/checks/progress.ts';
import { fc } from '../../support/checks/properties.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

const RUNS = COUNTS.oddRequestsPerRoute;

/** Texts that have broken servers before, in addition to those that fast-check generates. */
const oddText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '.',
    '..',
    '../..',
    '%',
    '%2e',
    '\\',
    '/',
    '0',
    '-1',
    '1.5',
    '1e5',
    '00',
    '9223372036854775807',
    '9223372036854775808',
    '9'.repeat(30),
    'null',
    'undefined',
    'NaN',
    'true',
    '__proto__',
    'constructor',
    'toString',
    "' or 1=1 --",
    '{}',
    '[]',
    'a'.repeat(400),
    'é',
    '🦊',
    '\u202e',
    '\ufffd',
    'acme',
    'ann',
    'team',
    'user',
    'can_view',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);
const oddValue = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    oddText,
    fc.constantFrom(null, true, false, 0, -1, 1, 1.5, 1e300, 2 ** 53, -(2 ** 63)),
    fc.integer(),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      oddText.filter((text) => text !== '__proto__' && text !== 'constructor'),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;

interface Shape {
  readonly properties?: Readonly<Record<string, unknown>>;
}

/** A value close to the schema: right keys, odd values, so that it passes the first check. */
function nearly(schema: object): fc.Arbitrary<unknown> {
  const { properties = {}, items } = schema as Shape & { items?: object };
  const names = Object.keys(properties);
  const object = fc.record(
    Object.fromEntries(names.map((name) => [name, fc.oneof(oddValue, likely(properties[name] as object))])),
    { requiredKeys: [] },
  );
  if (items) return fc.oneof(oddValue, fc.array(nearly(items), { maxLength: 4 }));
  return fc.oneof({ weight: 1, arbitrary: oddValue }, { weight: 4, arbitrary: object });
}

function likely(schema: {
  type?: string;
  items?: object;
  int64?: boolean;
  properties?: object;
}): fc.Arbitrary<unknown> {
  if (schema.type === 'string') return oddText;
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return fc.array(nearly(schema.items ?? {}), { maxLength: 4 });
  if (schema.type === 'object') return nearly(schema);
  return fc.oneof(fc.integer({ min: -2, max: 60 }), fc.constantFrom(2 ** 53 - 1, 1.5, -0));
}

/** Also sends numbers beyond doubles, which JSON.stringify would write as null. */
const write = (value: unknown) => JSON.stringify(value ?? null).replaceAll('1e+300', '9223372036854775807');

describe('Fuzzing of /api/v1', () => {
  let atrium: TestServer;
  before(async () => {
    atrium = await openTestServer({ env: { AUTH_FAILURES: '1000000', DEPLOYMENT: 'hosted' } });
  });
  after(() => atrium.close());

  it('Random input to any /api/v1 route causes no internal error, for an owner and the site administrator', async () => {
    for (const route of atrium.instance.routes) {
      const { method, path, schema } = route;
      if (!path.startsWith('/api/v1') || schema.hide) continue;
      if (IS_LONG) progress(`${RUNS} odd requests to ${method} ${path}`);
      const parameters = [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
      const queries = Object.keys((schema.querystring as Shape | undefined)?.properties ?? {});
      const request = fc.record({
        who: fc.constantFrom('ann', 'root'),
        params: fc.record(Object.fromEntries(parameters.map((name) => [name, oddText]))),
        query: fc.record(Object.fromEntries(queries.map((name) => [name, fc.array(oddText, { maxLength: 2 })]))),
        atHome: fc.boolean(),
        body: schema.body ? nearly(schema.body) : fc.constant(undefined),
      });
      // Password checks are slow by design.
      const numRuns = path.endsWith('/signin') ? Math.min(RUNS, 10) : RUNS;
      await fc.assert(
        fc.asyncProperty(request, async ({ who, params, query, atHome, body }) => {
          const target = path.replace(/:(\w+)/g, (_all, name) => encodeURIComponent(params[name] || '1'));
          const pairs = Object.entries(query).flatMap(([name, values]) =>
            values.map((value): [string, string] => [name, value]),
          );
          const search = new URLSearchParams(
            atHome ? [['org', 'acme'], ...pairs.filter(([name]) => name !== 'org')] : pairs,
          );
          const headers = { Authorization: `token ${atrium.world.users[who]?.token}` };
          // fetch cannot send a body with GET. The one route that reads one has its own tests.
          const sent = schema.body && method !== 'GET' ? write(body) : undefined;
          const answer = await atrium.call(method, `${target}?${search}`.replaceAll('%00', ''), sent, headers);
          // A server behind this one may fail. An answer that says so is not a failure of this one.
          assert.ok(answer.status < 500 || [502, 503].includes(answer.status), `${method} ${target}: ${answer.text}`);
        }),
        { numRuns },
      );
    }
    assert.doesNotMatch(atrium.logged(), /"msg":"internal error"/);
    assert.equal((await atrium.as('ann')('GET', '/user')).status, 200);
  });
});
