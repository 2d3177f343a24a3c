import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';

for (const driver of API_DRIVERS) {
  describe(`Email addresses on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const call = (name: string, method: string, emails?: unknown) =>
      atrium.as(name)(method, '/user/emails', emails === undefined ? undefined : { emails });
    const list = async (name: string) =>
      (await call(name, 'GET')).body.map((one: { email: string; verified: boolean; primary: boolean }) => {
        assert.deepEqual(Object.keys(one), ['email', 'verified', 'primary']);
        return `${one.email}${one.verified ? '' : ' unverified'}${one.primary ? ' primary' : ''}`;
      });

    it(`Email addresses are listed with the primary one first, then in order of creation, on ${driver}`, async () => {
      assert.deepEqual(await list('ann'), ['ann@example.com primary', 'ann.archer@example.org unverified']);
    });

    it(`Added email addresses keep their spelling and are verified, and the full list is returned, on ${driver}`, async () => {
      const added = await call('bob', 'POST', ['Bob.Work@Example.COM', 'bob@localhost']);
      assert.equal(added.status, 201);
      assert.deepEqual(added.body, [
        { email: 'bob@example.com', verified: true, primary: true },
        { email: 'Bob.Work@Example.COM', verified: true, primary: false },
        { email: 'bob@localhost', verified: true, primary: false },
      ]);
      assert.deepEqual((await call('bob', 'GET')).body, added.body);
    });

    it(`Email addresses are deleted in any case, and duplicates and empty lists are accepted, on ${driver}`, async () => {
      assert.equal((await call('bob', 'DELETE', [])).status, 204);
      // A Go client sends an empty list as null.
      assert.equal((await call('bob', 'DELETE', null)).status, 204);
      const gone = await call('bob', 'DELETE', ['BOB.WORK@example.com', 'bob.work@EXAMPLE.com']);
      assert.deepEqual([gone.status, gone.text], [204, '']);
      assert.deepEqual(await list('bob'), ['bob@example.com primary', 'bob@localhost']);
      assert.equal((await call('bob', 'DELETE', ['bob@localhost'])).status, 204);
    });

    const refusals: readonly [
      what: string,
      method: string,
      emails: unknown,
      status: number,
      message: string | RegExp,
    ][] = [
      ['an empty list', 'POST', [], 422, 'Email list empty'],
      ["another user's address", 'POST', ['bob@example.com'], 422, 'Email address has been used: bob@example.com'],
      [
        "another user's address in different case",
        'POST',
        ['BOB@EXAMPLE.com'],
        422,
        'Email address has been used: BOB@EXAMPLE.com',
      ],
      ["the caller's own address", 'POST', ['Ann@example.com'], 422, 'Email address has been used: Ann@example.com'],
      ['a new address before a used one', 'POST', ['new@x.org', 'bob@example.com'], 422, /used: bob@example.com$/],
      ['a used address before a new one', 'POST', ['bob@example.com', 'new@x.org'], 422, /used: bob@example.com$/],
      ['a new address with a malformed one', 'POST', ['new@x.org', 'new'], 422, 'Email address "new" invalid'],
      ['a duplicate address', 'POST', ['new@x.org', 'NEW@x.org'], 422, 'Email address is given twice: NEW@x.org'],
      ['101 addresses', 'POST', Array.from({ length: 101 }, (_, i) => `n${i}@x.org`), 422, /^at most 100/],
      ['a missing list', 'POST', undefined, 422, /emails/],
      ['a string instead of a list', 'POST', 'new@x.org', 422, /^emails must be/],
      ['null instead of a list', 'POST', null, 422, /^emails must be/],
      ['a number in the list', 'POST', [7], 422, /^emails/],
      ['101 addresses to remove', 'DELETE', Array.from({ length: 101 }, () => 'x@x.org'), 422, /^at most 100/],
      ['the primary address', 'DELETE', ['ANN@example.com'], 422, 'the primary email address cannot be deleted'],
      ['an unknown address', 'DELETE', ['new@x.org'], 404, 'Email address does not exist: new@x.org'],
      ["another user's address", 'DELETE', ['bob@example.com'], 404, 'Email address does not exist: bob@example.com'],
      [
        'a list that includes the primary address',
        'DELETE',
        ['ann.archer@example.org', 'ann@example.com'],
        422,
        /^the primary/,
      ],
      ['a list that includes an unknown address', 'DELETE', ['ann.archer@example.org', 'x@x.org'], 404, /x@x.org$/],
      [
        'a look-alike of an existing address',
        'DELETE',
        ['ann.archer@example.or\u{ff47}'],
        404,
        /^Email address does not exist/,
      ],
      ['a missing list', 'DELETE', undefined, 422, /emails/],
      ['a string instead of a list', 'DELETE', 'ann@example.com', 422, /^emails must be/],
    ];
    for (const [what, method, emails, status, message] of refusals) {
      it(`${method} /user/emails rejects ${what} with ${status} and changes nothing on ${driver}`, async () => {
        const before = await list('ann');
        const answer = await atrium.as('ann')(method, '/user/emails', emails === undefined ? {} : { emails });
        assert.equal(answer.status, status, answer.text);
        if (typeof message === 'string') assert.equal(answer.body.message, message);
        else assert.match(answer.body.message, message);
        assert.equal(answer.body.url, `${atrium.url}/api/v1/docs`);
        if (status === 422) assert.match(answer.body.errors[0].field, /^emails(\.0)?$/);
        assert.deepEqual(await list('ann'), before);
      });
    }

    it(`An address added concurrently by several users goes to only one of them on ${driver}`, async () => {
      for (let round = 0; round < 5; round++) {
        const wanted = [`first${round}@x.org`, `both${round}@x.org`];
        const answers = await Promise.all(
          ['bob', 'cat', 'dan'].map((name) => call(name, 'POST', [`${name}${round}@x.org`, ...wanted])),
        );
        assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 422, 422]);
        for (const { status, body } of answers) {
          if (status === 422) assert.match(body.message, /^Email address has been used: /);
        }
      }
      const all = [...(await list('bob')), ...(await list('cat')), ...(await list('dan'))];
      assert.equal(all.length, 3 + 5 * 3);
    });
  });
}
