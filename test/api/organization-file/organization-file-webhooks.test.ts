import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { auditOf } from '../../support/checks/audit.ts';
import { API_DRIVERS } from '../../support/server/drivers.ts';
import { type Answer, openTestServer, type TestServer } from '../../support/server/server.ts';
import { numbersOf } from '../../support/world/authz.ts';

const YAML = { 'Content-Type': 'application/yaml' };
const HEAD = 'apiVersion: atrium/v1\nkind: Organization\norganization: acme\n';
const SIEM = `${HEAD}webhooks:
  - name: siem
    url: https://siem.example.com/in?token=hidden
    types: ["team.*"]
    format: cloudevents
`;

for (const driver of API_DRIVERS) {
  describe(`The webhooks in the file of an organization on ${driver}`, () => {
    let atrium: TestServer;
    before(async () => {
      atrium = await openTestServer({ driver });
    });
    after(() => atrium.close());

    const apply = async (body: string, who = 'ann', headers = {}): Promise<Answer> =>
      await atrium.as(who)('PUT', '/orgs/acme/file', body, { ...YAML, ...headers });
    const plan = async (body: string, who = 'ann'): Promise<Answer> =>
      await atrium.as(who)('POST', '/orgs/acme/plan', body, YAML);
    const exported = async () => (await atrium.as('ann')('GET', '/orgs/acme/file?sections=webhooks')).text;
    const list = async () => (await atrium.as('ann')('GET', '/orgs/acme/webhooks')).body;
    const found = async (name: string) => (await list()).find((one: { name: string }) => one.name === name);

    it(`A file creates, changes, renames and deletes webhooks as its plan says on ${driver}`, async () => {
      const steps: readonly (readonly [file: string, changes: readonly object[]])[] = [
        [
          SIEM,
          [
            {
              ...{ section: 'webhooks', name: 'siem', kind: 'create' },
              words: ['url "https://siem.example.com/in"', 'types team.*', 'format cloudevents', 'active true'],
            },
          ],
        ],
        [SIEM, []],
        [
          `${HEAD}webhooks: [{ name: SIEM, types: ["*"], active: false }]\n`,
          [
            {
              ...{ section: 'webhooks', name: 'SIEM', kind: 'update' },
              words: ['name "siem" → "SIEM"', 'types *', 'active false'],
            },
          ],
        ],
        [
          `${HEAD}webhooks: [{ name: log, was: SIEM, url: "https://siem.example.com/in?token=other" }]\n`,
          [
            {
              ...{ section: 'webhooks', name: 'log', kind: 'update' },
              words: ['name "SIEM" → "log"', 'url "https://siem.example.com/in" with another query'],
            },
          ],
        ],
        [
          `${HEAD}webhooks: { prune: true, items: [] }\n`,
          [{ section: 'webhooks', name: 'log', kind: 'delete', words: [] }],
        ],
      ];
      const ids = new Set<number>();
      for (const [file, changes] of steps) {
        const planned = await plan(file);
        assert.equal(planned.status, 200, planned.text);
        assert.deepEqual([planned.body.refusals, planned.body.changes], [[], changes]);
        assert.deepEqual(planned.body.impact.users, []);
        const applied = await apply(file, 'ann', { 'If-Match': planned.body.etag });
        assert.deepEqual([applied.status, applied.body.changes], [200, changes], applied.text);
        for (const { id } of await list()) ids.add(id);
      }
      assert.equal(ids.size, 1, 'a name is all that a rename changes');
      assert.deepEqual(await list(), []);
    });

    it(`What is exported has no secret, and changes nothing when it is applied on ${driver}`, async () => {
      const applied = await apply(SIEM);
      assert.equal(applied.status, 200, applied.text);
      const text = await exported();
      assert.deepEqual(parse(text).webhooks, [
        {
          ...{ name: 'siem', url: 'https://siem.example.com/in?token=hidden', types: ['team.*'] },
          ...{ format: 'cloudevents', active: true },
        },
      ]);
      for (const one of [applied.text, text, (await plan(SIEM)).text]) assert.doesNotMatch(one, /whsec_|secret/);
      assert.deepEqual((await apply(text)).body.changes, []);
      assert.equal((await apply(text)).headers.get('etag'), applied.headers.get('etag'));
      const fresh = await atrium.as('ann')('PATCH', `/orgs/acme/webhooks/${(await found('siem')).id}`, {
        secret: null,
      });
      assert.match(fresh.body.secret, /^whsec_/, 'the secret that signs can be replaced by one that is seen');
      assert.deepEqual((await apply(text)).body.changes, [], 'a secret is not in the file');
    });

    it(`What an entry does not say stays, and what the section does not name is listed on ${driver}`, async () => {
      await apply(SIEM);
      const before = await found('siem');
      const planned = await plan(`${HEAD}webhooks: [{ name: siem }]\n`);
      assert.deepEqual(planned.body.changes, []);
      const other = await apply(`${HEAD}webhooks: [{ name: other, url: "https://other.example.com/" }]\n`);
      assert.deepEqual(other.body.unmanaged.webhooks, ['siem']);
      assert.deepEqual(await found('siem'), before);
      const { url, types, format, active } = await found('other');
      assert.deepEqual(
        { url, types, format, active },
        { url: 'https://other.example.com/', types: ['*'], format: 'standard', active: true },
      );
      await apply(`${HEAD}webhooks: { prune: true, items: [{ name: siem }] }\n`);
      assert.equal(await found('other'), undefined);
    });

    it(`The user who applies a change to a webhook is the one whose rights count on ${driver}`, async () => {
      await apply(SIEM);
      assert.equal((await found('siem')).created_by.name, 'ann');
      await apply(`${HEAD}teams: [{ name: Owners, members: [bob] }]\n`);
      await apply(SIEM, 'bob');
      assert.equal((await found('siem')).created_by.name, 'ann', 'nothing has changed');
      const changed = await apply(SIEM.replace('cloudevents', 'standard'), 'bob');
      assert.equal(changed.status, 200, changed.text);
      assert.equal((await found('siem')).created_by.name, 'bob');
      const entries = (await auditOf(atrium.instance.db, numbersOf(atrium).org('acme'))).slice(-2);
      assert.deepEqual(
        entries.map(({ action }) => action),
        ['webhook.update', 'organization.apply'],
      );
      assert.doesNotMatch(
        JSON.stringify(entries, (_key, one) => String(one)),
        /hidden/,
        'the query is cut off',
      );
    });

    it(`A change of a webhook between plan and apply is noticed on ${driver}`, async () => {
      await apply(SIEM);
      const { id } = await found('siem');
      const file = `${HEAD}webhooks: [{ name: siem, types: ["robot.*"] }]\n`;
      const { etag } = (await plan(file)).body;
      await atrium.as('ann')('PATCH', `/orgs/acme/webhooks/${id}`, { active: false });
      assert.equal((await apply(file, 'ann', { 'If-Match': etag })).status, 412);
      assert.deepEqual((await found('siem')).types, ['team.*']);
    });

    it(`Rejected webhooks change nothing, and the answer says where the file is wrong on ${driver}`, async () => {
      await apply(SIEM);
      const before = await list();
      const url = 'url: "https://a.example.com/"';
      for (const [entry, field] of [
        [`name: siem, secret: x`, 'webhooks[0].secret'],
        [`name: fresh`, 'webhooks[0].url'],
        [`name: fresh, url: "http://10.0.0.1/"`, 'webhooks[0].url'],
        [`name: fresh, ${url}, types: ["nothing.*"]`, 'webhooks[0].types'],
        [`name: fresh, ${url}, types: team`, 'webhooks[0].types'],
        [`name: fresh, ${url}, format: xml`, 'webhooks[0].format'],
        [`name: fresh, ${url}, active: "no"`, 'webhooks[0].active'],
        [`name: "a b", ${url}`, 'webhooks[0].name'],
        [url, 'webhooks[0].name'],
        [`name: a, ${url} }, { name: A, ${url}`, 'webhooks[1].name'],
      ] as const) {
        for (const answer of [
          await plan(`${HEAD}webhooks: [{ ${entry} }]\n`),
          await apply(`${HEAD}webhooks: [{ ${entry} }]\n`),
        ]) {
          assert.deepEqual([answer.status, answer.body.errors?.[0]?.field], [422, field], `${entry}: ${answer.text}`);
        }
      }
      assert.deepEqual(await list(), before);
    });

    it(`An organization has at most as many webhooks as its limit says on ${driver}`, async () => {
      const items = Array.from({ length: 21 }, (_, at) => `{ name: w${at}, url: "https://w${at}.example.com/" }`);
      const file = `${HEAD}webhooks: { prune: true, items: [${items}] }\n`;
      const planned = await plan(file);
      assert.deepEqual(
        planned.body.refusals.map(({ section, status, reason }: Record<string, unknown>) => [section, status, reason]),
        [['webhooks', 422, 'limit_reached']],
        planned.text,
      );
      assert.equal((await apply(file)).status, 422);
    });
  });
}
