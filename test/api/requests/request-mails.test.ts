import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type EventReader, readEvents } from '../../support/server/event-stream.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { statement } from '../../support/server/statement.ts';
import { type MailBox, openMailBox } from '../../support/world/mail-box.ts';
import { openRequestPlace, type RequestPlace } from '../../support/world/requests.ts';

describe('Who hears of access requests', () => {
  let atrium: TestServer;
  let box: MailBox;
  let place: RequestPlace;
  before(async () => {
    box = await openMailBox();
    atrium = await openTestServer({ env: { SMTP_URL: box.smtp.url } });
    place = await openRequestPlace(atrium);
    for (const { id, name } of [place.owner, place.lead, place.dan]) {
      await atrium.instance.db.query(statement('delete from email where account_id = $1'), [id]);
      const values = [id, `${name}@example.com`];
      const text = 'insert into email (account_id, address, verified, is_primary) values ($1, $2, true, true)';
      await atrium.instance.db.query(statement(text), values);
    }
  });
  after(async () => {
    await atrium.close();
    await box.smtp.close();
  });

  const taken = async () => await box.take(atrium);

  it('Approvers get one email in ten minutes, with one line for each field and no link that decides', async () => {
    const { ask, as, dan, owner, lead, request, approve } = place;
    const reason = 'INC-1\r\nUntil: never\nsee https://evil.example/approve';
    const made = await ask({ reason });
    const emails = await taken();
    const to = emails.map((email) => email.to[0]).sort();
    assert.deepEqual(to, [owner, lead].map(({ name }) => `${name}@example.com`).sort());
    for (const { text, html } of emails) {
      assert.match(text, new RegExp(`/orgs/.*/requests/${made.id}`));
      assert.doesNotMatch(text, /^\W*Until: never/m);
      assert.doesNotMatch(`${text}${html}`, /https:\/\/evil|\/approve\?|href="[^"]*(approve|evil)/);
    }
    assert.equal((await as(dan.name)('POST', request(made.id, 'cancel'))).status, 200);
    const again = await ask();
    assert.deepEqual(await taken(), [], 'the same requester and object within ten minutes');
    assert.equal((await approve(again.id, lead.name)).body.state, 'approved');
    const decided = await taken();
    assert.deepEqual(
      decided.map((email) => email.to),
      [[`${dan.name}@example.com`]],
    );
    assert.equal((await as(dan.name)('POST', request(again.id, 'end'))).body.state, 'ended');
  });

  it('All owners are told at once of access that was taken without an approval', async () => {
    const { ask, rules, owner, as, dan, request } = place;
    await rules({ name: 'emergency', match: { roles: ['cluster-operator'] }, break_glass: true });
    const made = await ask({ break_glass: true, for: 'PT1H' });
    const emails = await taken();
    assert.deepEqual(
      emails.map((email) => email.to),
      [[`${owner.name}@example.com`]],
    );
    await rules();
    assert.equal((await as(dan.name)('POST', request(made.id, 'end'))).body.state, 'ended');
  });

  it('The requester and the approvers hear an event of the kind request, and no other member does', async () => {
    const { ask, as, dan, cat, lead, owner, org, request } = place;
    const readers: [string, EventReader][] = [];
    for (const { name } of [dan, lead, owner, cat]) {
      const path = `/api/v1/events?org=${org.name}`;
      const reader = await readEvents(atrium.url, atrium.world.users[name]?.token, { path });
      await reader.find(({ event }) => event === 'ready');
      readers.push([name, reader]);
    }
    const made = await ask({ namespaces: ['events'] });
    const concerns =
      (kind: string, id?: string) => (event: { event: string; data: { changes?: { kind: string; id: string }[] } }) =>
        event.data?.changes?.some((one) => one.kind === kind && (id === undefined || made.id.endsWith(one.id))) ===
        true;
    for (const [name, reader] of readers.slice(0, 3)) await reader.find(concerns('request', made.id), name);
    assert.equal((await as(dan.name)('POST', request(made.id, 'cancel'))).status, 200);
    // What everybody hears comes after everything that was said before.
    assert.equal((await as(owner.name)('PATCH', `/orgs/${org.name}`, { description: 'heard' })).status, 200);
    const [, ofCat] = readers[3] ?? assert.fail();
    await ofCat.find(concerns('organization'), 'the organization');
    assert.ok(!ofCat.events.some(concerns('request')), ofCat.text());
    for (const [, reader] of readers) reader.close();
  });
});
