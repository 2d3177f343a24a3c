import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Call, openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';

const MIB = 1024 * 1024;
const WHEN = /"creationTimestamp":"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"/;
/** An answer without what the server added. */
const specOf = (text: string) => text.replace(new RegExp(`,${WHEN.source}}$`), '}');
const nested = (levels: number) => `{"name":"deep","a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
const sized = (bytes: number, name = 'big') => {
  const head = `{"name":"${name}","data":"`;
  return `${head}${'x'.repeat(bytes - head.length - 2)}"}`;
};

for (const driver of API_DRIVERS) {
  describe(`Cloud credentials on ${driver}`, () => {
    let atrium: TestServer;
    let ann: Call;
    let bob: Call;
    before(async () => {
      atrium = await openTestServer({ driver });
      ann = atrium.as('ann');
      bob = atrium.as('bob');
    });
    after(() => atrium.close());
    const names = async (query = '', call = ann) =>
      (await call('GET', `/user/credentials${query}`)).body.map((one: { name: string }) => one.name);

    it(`The demo world has two credentials for ann and none for bob on ${driver}`, async () => {
      const { status, body } = await ann('GET', '/user/credentials');
      assert.equal(status, 200);
      assert.deepEqual(
        body.map((one: { type: string }) => one.type),
        ['Aws', 'GoogleCloud'],
      );
      assert.equal(body[0].aws.accessKeyID, 'AKIADEMODEMODEMODEMO');
      assert.deepEqual((await bob('GET', '/user/credentials')).body, []);
    });

    it(`A summary has no secrets, and opens nothing on ${driver}`, async () => {
      const { body, text } = await ann('GET', '/user/credentials?summary=true');
      assert.deepEqual(
        body.map((one: object) => Object.keys(one)),
        Array(2).fill(['name', 'type', 'creationTimestamp', 'updatedAt']),
      );
      assert.deepEqual(
        body.map((one: { name: string; type: string }) => `${one.name} ${one.type}`),
        ['ann-aws Aws', 'ann-gcp GoogleCloud'],
      );
      assert.doesNotMatch(text, /AKIA/);
      assert.deepEqual(await names('?summary=true&credential_type=aws'), ['ann-aws']);
      const { db, metrics } = atrium.instance;
      const break_ = statement(`update credential set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)`);
      await db.query(break_);
      assert.deepEqual(await names('?summary=true'), ['ann-aws', 'ann-gcp']);
      await db.query(break_);
      assert.match(await metrics.registry.metrics(), /^atrium_vault_faults_total 0$/m);
      assert.deepEqual((await bob('GET', '/user/credentials?summary=true')).body, []);
      assert.equal((await ann('GET', '/user/credentials?summary=false')).body[0].aws.accessKeyID.slice(0, 4), 'AKIA');
    });

    for (const query of ['summary=1', 'summary=True', 'summary=', 'summary=true&summary=true']) {
      it(`A summary that is asked for with ${query} is rejected, so that no secret is sent on ${driver}`, async () => {
        const answer = await ann('GET', `/user/credentials?${query}`);
        assert.ok([400, 422].includes(answer.status), answer.text);
      });
    }

    it(`A summary cannot be filtered by the endpoint, which is sealed, on ${driver}`, async () => {
      const answer = await ann('GET', '/user/credentials?summary=true&mgmt_endpoint=https://rancher.example');
      assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, 'mgmt_endpoint']);
    });

    it(`A credential can be created, read, replaced and deleted on ${driver}`, async () => {
      const made = await bob('POST', '/user/credentials', { name: 'one', type: 'Aws', aws: { accessKeyID: 'A' } });
      assert.deepEqual([made.status, made.text], [201, '']);
      const shown = await bob('GET', '/user/credentials/one');
      assert.equal(shown.status, 200);
      assert.match(shown.headers.get('content-type') ?? '', /^application\/json/);
      assert.match(shown.text, WHEN);
      assert.equal(shown.headers.get('etag'), made.headers.get('etag'));
      for (const path of ['/user/credentials', '/user/credentials/']) {
        const changed = await bob('PUT', path, { name: 'one', type: 'Linode', path });
        assert.deepEqual([changed.status, changed.text], [204, '']);
        const { body } = await bob('GET', '/user/credentials/one');
        assert.deepEqual(body, { name: 'one', type: 'Linode', path, creationTimestamp: shown.body.creationTimestamp });
      }
      const gone = await bob('DELETE', '/user/credentials/one');
      assert.deepEqual([gone.status, gone.text], [204, '']);
      assert.equal((await bob('GET', '/user/credentials/one')).status, 404);
      assert.equal((await bob('DELETE', '/user/credentials/one')).status, 404);
    });

    const WHOLE: readonly (readonly [what: string, spec: string])[] = [
      ['ordered keys, including numeric ones', '{"z":1,"10":2,"name":"w","2":3,"a":{"9":1,"1":2}}'],
      [
        'numbers of any precision',
        '{"name":"w","n":[9007199254740993,-0,1.10,1e400,12345678901234567890123456789.000,1E-2]}',
      ],
      [
        'escaped strings',
        '{"name":"w","s":"\\u00e9\\/\\n\\ud83d\\udd11 \u{1f511}é\u2028","":"","a b":"}{][,:\\"\\\\"}',
      ],
      ['unknown fields and an ownerID', '{"name":"w","ownerID":424242,"x":{"y":[null,true,{}]},"type":7}'],
      ['whitespace inside values', '{"name" : "w","a" :  [ 1 , 2 ]}'],
      // Leaves room for the timestamp that the answer adds, because the answer is sent back as a body.
      ['almost 1 MiB of data', sized(MIB - 50, 'w')],
      ['64 levels of nesting', nested(64).replace('"deep"', '"w"')],
    ];
    for (const [what, spec] of WHOLE) {
      it(`A spec with ${what} is returned unchanged on ${driver}`, async () => {
        assert.equal((await bob('POST', '/user/credentials', spec)).status, 201);
        assert.equal(specOf((await bob('GET', '/user/credentials/w')).text), spec);
        assert.equal(specOf((await bob('GET', '/user/credentials')).text.slice(1, -1)), spec);
        // What was read can be sent back.
        assert.equal(
          (await bob('PUT', '/user/credentials/', (await bob('GET', '/user/credentials/w')).text)).status,
          204,
        );
        assert.equal(specOf((await bob('GET', '/user/credentials/w')).text), spec);
        assert.equal((await bob('DELETE', '/user/credentials/w')).status, 204);
      });
    }

    it(`A spec of 1 MiB is accepted and a larger one is rejected with 413 on ${driver}`, async () => {
      const spec = sized(MIB);
      assert.equal((await bob('POST', '/user/credentials', spec)).status, 201);
      assert.equal(specOf((await bob('GET', '/user/credentials/big')).text), spec);
      assert.equal((await bob('DELETE', '/user/credentials/big')).status, 204);
      for (const method of ['POST', 'PUT']) {
        assert.equal((await bob(method, '/user/credentials', sized(MIB + 1))).status, 413);
      }
    });

    it(`Callers can access only their own credentials on ${driver}`, async () => {
      assert.equal((await bob('POST', '/user/credentials', { name: 'ann-aws', type: 'Vultr' })).status, 201);
      assert.equal((await bob('GET', '/user/credentials/ann-aws')).body.type, 'Vultr');
      assert.equal((await ann('GET', '/user/credentials/ann-aws')).body.type, 'Aws');
      for (const [method, path, body] of [
        ['GET', '/user/credentials/ann-aws'],
        ['PUT', '/user/credentials', { name: 'ann-aws' }],
        ['DELETE', '/user/credentials/ann-aws'],
      ] as const) {
        assert.equal((await atrium.as('root')(method, path, body)).status, 404);
        assert.equal((await atrium.as()(method, path, body)).status, 401);
      }
      assert.equal((await bob('DELETE', '/user/credentials/ann-aws')).status, 204);
    });

    it(`Credentials can be filtered by type and by management endpoint on ${driver}`, async () => {
      const eve = atrium.as('eve');
      for (const spec of [
        { name: 'a', type: 'Aws', endpoint: 'https://elsewhere.example' },
        { name: 'g', type: 'GoogleCloud' },
        { name: 'r1', type: 'Rancher', rancher: { endpoint: 'https://one.example/v3' } },
        { name: 'r2', type: 'rancher', endpoint: 'https://two.example' },
        { name: 'r3', type: 'Rancher' },
        { name: 'none' },
      ]) {
        assert.equal((await eve('POST', '/user/credentials', spec)).status, 201);
      }
      const rows: readonly (readonly [query: string, names: string[]])[] = [
        ['', ['a', 'g', 'r1', 'r2', 'r3', 'none']],
        ['?credential_type=aws', ['a']],
        ['?credential_type=AWS&credential_type=GoogleCloud', ['a', 'g']],
        ['?credential_type=aws,%20googlecloud', ['a', 'g']],
        ['?credential_type=aws,nothing&credential_type=RANCHER', ['a', 'r1', 'r2', 'r3']],
        ['?credential_type=nothing', []],
        ['?credential_type=', ['a', 'g', 'r1', 'r2', 'r3', 'none']],
        ['?mgmt_endpoint=https://one.example/v3', ['a', 'g', 'r1', 'none']],
        ['?mgmt_endpoint=https://two.example/', ['a', 'g', 'r2', 'none']],
        ['?mgmt_endpoint=https://three.example', ['a', 'g', 'none']],
        ['?mgmt_endpoint=https://two.example&credential_type=Rancher', ['r2']],
        ['?mgmt_endpoint=', ['a', 'g', 'r1', 'r2', 'r3', 'none']],
      ];
      for (const [query, expected] of rows) assert.deepEqual(await names(query, eve), expected, query);
    });

    it(`Updates and deletions of credentials honor If-Match but do not require it on ${driver}`, async () => {
      await bob('POST', '/user/credentials', { name: 'm', v: 1 });
      const { headers } = await bob('GET', '/user/credentials/m');
      const first = headers.get('etag') ?? '';
      const put = (v: number, tag: string) => bob('PUT', '/user/credentials/', { name: 'm', v }, { 'If-Match': tag });
      const changed = await put(2, first);
      assert.equal(changed.status, 204);
      assert.equal((await put(3, first)).status, 412);
      assert.equal((await bob('GET', '/user/credentials/m')).body.v, 2);
      assert.equal((await put(4, '*')).status, 204);
      assert.equal((await bob('DELETE', '/user/credentials/m', undefined, { 'If-Match': first })).status, 412);
      const last = (await bob('GET', '/user/credentials/m')).headers.get('etag') ?? '';
      assert.notEqual(last, changed.headers.get('etag'));
      assert.equal((await bob('DELETE', '/user/credentials/m', undefined, { 'If-Match': last })).status, 204);
    });

    const REFUSED: readonly (readonly [what: string, body: unknown, field?: string])[] = [
      ['an array', [{ name: 'x' }]],
      ['a string', '"x"'],
      ['null', 'null'],
      ['malformed JSON', '{"name":"x"'],
      ['a missing name', { type: 'Aws' }, 'name'],
      ['an empty body', '', 'name'],
      ['an empty name', { name: '' }, 'name'],
      ['a name with a slash', { name: 'a/b' }, 'name'],
      ['a name of 101 characters', { name: 'x'.repeat(101) }, 'name'],
      ['a name of dots', { name: '..' }, 'name'],
      ['a numeric name', { name: 5 }, 'name'],
      ['a name with a line break', { name: 'a\n' }, 'name'],
      ['65 levels of nesting', nested(65)],
      ['a NUL character', '{"name":"x","a":"\\u0000"}'],
      ['a NUL in a key', '{"name":"x","a\\u0000":1}'],
      ['an unpaired surrogate', '{"name":"x","a":"\\ud800"}'],
      ['a __proto__ key', '{"name":"x","a":{"__proto__":{}}}'],
      ['a constructor key', '{"name":"x","constructor":1}'],
      ['a duplicate key', '{"name":"x","name":"y"}'],
    ];
    for (const [what, body, field] of REFUSED) {
      it(`POST and PUT /user/credentials reject ${what} with 422 and store nothing on ${driver}`, async () => {
        const before = await names('', bob);
        for (const method of ['POST', 'PUT']) {
          const answer = await bob(method, '/user/credentials', body);
          assert.equal(answer.status, 422, answer.text);
          if (field) assert.equal(answer.body.errors[0].field, field);
        }
        assert.deepEqual(await names('', bob), before);
      });
    }

    it(`Taken names, unknown names and non-JSON bodies are rejected for credentials on ${driver}`, async () => {
      const taken = await ann('POST', '/user/credentials', { name: 'ann-aws', type: 'X' });
      assert.equal(taken.status, 422);
      assert.equal(taken.body.errors[0].field, 'name');
      assert.equal((await ann('GET', '/user/credentials/ann-aws')).body.type, 'Aws');
      assert.equal((await ann('PUT', '/user/credentials/', { name: 'unknown' })).status, 404);
      assert.equal((await ann('GET', '/user/credentials/unknown')).status, 404);
      assert.equal((await ann('GET', '/user/credentials/%F0%9F%94%91')).status, 404);
      const plain = await ann('POST', '/user/credentials', 'name=x', { 'Content-Type': 'text/plain' });
      assert.equal(plain.status, 422);
      assert.equal((await ann('PATCH', '/user/credentials/ann-aws', {})).status, 405);
    });

    it(`Only one of several concurrent creations of the same credential succeeds on ${driver}`, async () => {
      const answers = await Promise.all([1, 2, 3, 4].map((v) => bob('POST', '/user/credentials', { name: 'race', v })));
      assert.deepEqual(answers.map((one) => one.status).sort(), [201, 422, 422, 422]);
      await bob('DELETE', '/user/credentials/race');
    });

    it(`A token with only read:credential can list credentials but not create them on ${driver}`, async () => {
      const accountId = atrium.world.users.ann?.id ?? 0n;
      const { text } = await atrium.instance.identity.tokens.issue({
        accountId,
        name: `r-${driver}`,
        scopes: ['read:credential'],
      });
      const call = (method: string, body?: unknown) =>
        atrium.call(method, '/api/v1/user/credentials', body, { Authorization: `token ${text}` });
      assert.equal((await call('GET')).status, 200);
      assert.equal((await call('POST', { name: 'x' })).status, 403);
    });

    it(`The audit log records only the name and type of changed credentials on ${driver}`, async () => {
      await bob('POST', '/user/credentials', { name: 'seen', type: 'Aws', aws: { secretAccessKey: 'hush' } });
      await bob('PUT', '/user/credentials', { name: 'seen', type: 'Linode', linode: { token: 'hush' } });
      await bob('DELETE', '/user/credentials/seen');
      const rows = await atrium.instance.db.query<{ action: string; before: unknown; after: unknown }>(
        statement(`select action, before, after from audit where action like 'credential.%' order by id desc limit 3`),
      );
      assert.deepEqual(rows.reverse(), [
        { action: 'credential.create', before: null, after: { name: 'seen', type: 'Aws' } },
        {
          action: 'credential.update',
          before: { name: 'seen', type: 'Aws' },
          after: { name: 'seen', type: 'Linode' },
        },
        { action: 'credential.delete', before: { name: 'seen', type: 'Linode' }, after: null },
      ]);
    });

    it(`A corrupted or moved credential row is answered with a counted 500 that leaks nothing on ${driver}`, async () => {
      await bob('POST', '/user/credentials', { name: 'hurt', type: 'Aws', aws: { secretAccessKey: 'canary-hurt' } });
      const { db } = atrium.instance;
      await db.query(
        statement(`update credential set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) where name = 'hurt'`),
      );
      const damaged = await bob('GET', '/user/credentials/hurt');
      assert.equal(damaged.status, 500);
      assert.deepEqual(Object.keys(damaged.body), ['message', 'url', 'reason', 'request_id']);
      assert.equal(damaged.body.message, 'internal error');
      await db.query(
        statement(
          `update credential set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)
        where name = 'hurt'`,
        ),
      );
      assert.equal((await bob('GET', '/user/credentials/hurt')).status, 200);
      await db.query(statement(`update credential set owner_id = $1 where name = 'hurt'`), [
        atrium.world.users.dan?.id,
      ]);
      assert.equal((await atrium.as('dan')('GET', '/user/credentials/hurt')).status, 500);
      assert.match(await atrium.instance.metrics.registry.metrics(), /^atrium_vault_faults_total 2$/m);
      assert.doesNotMatch(atrium.logged(), /canary-hurt/);
    });
  });
}
