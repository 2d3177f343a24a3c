import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { allowedTo, assertRejected, numbersOf } from '../../support/world/authz.ts';

const PATH = '/authz/objects/allowed-permissions?org=acme';

describe('POST /authz/objects/allowed-permissions', () => {
  let atrium: TestServer;
  let id: ReturnType<typeof numbersOf>;
  before(async () => {
    atrium = await openTestServer();
    id = numbersOf(atrium);
  });
  after(() => atrium.close());

  const ask = async (who: string, body: unknown) => {
    const answer = await atrium.as(who)('POST', PATH, body);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };

  it('A batch answer keeps the request order, repeats duplicates and matches the single-object answers', async () => {
    const asked = [
      ['cluster', id.cluster('prod')],
      ['team', id.team('Owners')],
      ['user', id.user('ann')],
      ['cluster', id.cluster('laptop')],
      ['organization', id.org('acme')],
      ['contract', id.contract('acme')],
      ['robot_ac', id.robot('ci')],
      ['token', id.token('acme')],
      ['cluster', 424242],
      ['cluster', id.cluster('globex')],
      ['cluster', id.cluster('prod')],
    ] as const;
    const { body } = await ask(
      'ann',
      asked.map(([objectType, objectID]) => ({ objectType, objectID })),
    );
    const singles: object[] = [];
    for (const [objectType, objectID] of asked) {
      const allowedPermissions = await allowedTo(atrium, 'ann', objectType, objectID);
      singles.push({ objectType, objectID, allowedPermissions });
    }
    assert.ok(body[7].allowedPermissions.length > 0);
    assert.deepEqual(body[8].allowedPermissions, body[9].allowedPermissions);
    assert.deepEqual(body, singles);
  });

  it('A caller outside the organization gets an empty permission list for every object', async () => {
    const { body } = await ask('eve', [
      { objectType: 'cluster', objectID: id.cluster('prod') },
      { objectType: 'organization', objectID: id.org('acme') },
    ]);
    for (const entry of body) assert.deepEqual(entry.allowedPermissions, []);
  });

  it('An empty batch is answered with an empty array', async () => {
    assert.equal((await ask('ann', [])).text, '[]');
  });

  it('A batch returns large object IDs exactly', async () => {
    const { text } = await ask('ann', '[{"objectType":"cluster","objectID":9007199254740993}]');
    assert.equal(text, '[{"objectType":"cluster","objectID":9007199254740993,"allowedPermissions":[]}]');
  });

  it('A batch of 1,000 objects is answered in order', async () => {
    const many = Array.from({ length: 1000 }, (_, place) => ({ objectType: 'cluster', objectID: place + 1 }));
    const { body } = await ask('ann', many);
    assert.deepEqual(
      body.map((entry: { objectID: number }) => entry.objectID),
      many.map((entry) => entry.objectID),
    );
  });

  const good = { objectType: 'cluster', objectID: 1 };
  const many = Array.from({ length: 1001 }, () => good);
  const REFUSED: readonly [what: string, body: unknown, status: number, message: RegExp][] = [
    ['1,001 elements', many, 422, /1000/],
    [
      'an unknown type in the last element',
      [good, { objectType: 'role', objectID: 1 }],
      400,
      /^invalid object type: "role"$/,
    ],
    ['an unknown type in the first element', [{ objectType: '', objectID: 1 }, good], 400, /^invalid object type/],
    ['the ID 0', [good, { ...good, objectID: 0 }], 400, /^invalid object ID: 0$/],
    ['a negative ID', [{ ...good, objectID: -5 }, good], 400, /^invalid object ID: -5$/],
    ['a fractional ID', [good, { ...good, objectID: 1.5 }], 400, /^invalid object ID: 1.5$/],
    [
      'an ID above the int64 range',
      '[{"objectType":"cluster","objectID":9223372036854775808}]',
      400,
      /9223372036854775808/,
    ],
    ['an ID of 40 digits', `[{"objectType":"cluster","objectID":${'9'.repeat(40)}}]`, 400, /^invalid object ID/],
    ['an ID given as a string', [{ ...good, objectID: '1' }], 422, /0.objectID must be number/],
    ['a missing ID', [good, { objectType: 'cluster' }], 422, /1.objectID is required/],
    ['a missing type', [{ objectID: 1 }], 422, /0.objectType is required/],
    ['a null ID', [{ ...good, objectID: null }], 422, /objectID/],
    ['a numeric type', [{ ...good, objectType: 7 }], 422, /objectType/],
    ['a null element', [null], 422, /0/],
    ['an object instead of an array', good, 422, /array/],
    ['a null body', 'null', 422, /array/],
    ['an empty body', '', 422, /array/],
    ['invalid JSON', '[{', 422, /not valid JSON/],
    ['a duplicate key', '[{"objectType":"cluster","objectType":"team","objectID":1}]', 422, /twice/],
  ];
  for (const [what, body, status, message] of REFUSED) {
    it(`POST /authz/objects/allowed-permissions rejects ${what} with ${status}`, () =>
      assertRejected(atrium, { who: 'ann', send: ['POST', PATH, body], status, message }));
  }

  it('A batch that names another user is rejected as a whole with 403, after validation errors with 400', async () => {
    const message = 'permissions cannot be queried on other users';
    const foreign = { objectType: 'user', objectID: id.user('bob') };
    await assertRejected(atrium, { who: 'ann', send: ['POST', PATH, [good, foreign]], status: 403, message });
    await assertRejected(atrium, { who: 'root', send: ['POST', PATH, [foreign, good]], status: 403, message });
    const invalid = { objectType: 'planet', objectID: 1 };
    await assertRejected(atrium, {
      who: 'ann',
      send: ['POST', PATH, [foreign, invalid]],
      status: 400,
      message: 'invalid object type: "planet"',
    });
  });

  it('A batch without a token, an activated account or a valid organization is rejected', async () => {
    const path = '/authz/objects/allowed-permissions';
    const rows = [
      [undefined, PATH, 401, 'token is required'],
      ['ann', path, 400, 'query parameter org is required'],
      ['ann', `${path}?org=acme&org=globex`, 400, 'query parameter org is given more than once'],
      ['ann', `${path}?org=nowhere`, 403, 'Must be an organization member'],
      ['mia', PATH, 403, 'This account is not activated.'],
    ] as const;
    for (const [who, where, status, message] of rows) {
      await assertRejected(atrium, { who, send: ['POST', where, [good]], status, message });
    }
  });
});
