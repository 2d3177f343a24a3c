import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as breath } from 'node:timers/promises';
import { createSigningKeyStore } from '../../src/kubernetes/signing-keys.store.ts';
import { createSigningKeys } from '../../src/kubernetes/signing-keys.ts';
import { SEALED_COLUMNS } from '../../src/sealed-columns.ts';
import type { SealedColumn } from '../../src/vault/rotation.ts';
import { createWebhookKeyStore } from '../../src/webhooks/webhook-keys.store.ts';
import { createWebhookKeys } from '../../src/webhooks/webhook-keys.ts';
import { COUNTS } from '../counts.ts';
import { progress } from '../support/checks/progress.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { DRIVERS } from '../support/server/db.ts';
import { startRealProvider } from '../support/services/real-provider.ts';
import { binding, openMarketplace, type TestMarketplace } from '../support/world/marketplace.ts';
import { newUser } from '../support/world/own-account.ts';
import { addProvider, signInWith } from '../support/world/provider-visits.ts';
import { addApp, firstStep } from '../support/world/second-factors.ts';

const EACH = Math.ceil(COUNTS.sealedDamages / DRIVERS.length);
/** Version and key ID. A value that names another key is found when it is opened, not when its key is replaced. */
const HEAD_BYTES = 9;
/** What the load writes is not damaged. */
const LOAD = 'load';

interface Row {
  readonly id: bigint;
  readonly owner_id: bigint;
  readonly identity: string;
  readonly sealed: Buffer;
}

for (const [place, driver] of DRIVERS.entries()) {
  describe(`Damaged secrets on ${driver}`, () => {
    it(`${EACH} flipped bits and swapped rows on ${driver} are refused and reported during key rotations, with seed ${SEED}`, async () => {
      const random = createRandom(SEED + place);
      const atrium = await openMarketplace({ driver, env: { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8' } });
      await fill(atrium);
      let isOver = false;
      let written = 0;
      let failure: unknown;
      const load = write().catch((error: unknown) => {
        failure = error;
      });
      const did = { flips: 0, swaps: 0 };
      for (let count = 0; count < EACH; count++) {
        const column = SEALED_COLUMNS[count % SEALED_COLUMNS.length] ?? assert.fail();
        const rows = (await rowsOf(column)).filter(({ identity }) => !identity.includes(LOAD));
        assert.ok(rows.length > 1, `nothing to damage in ${column.table}`);
        const first = random.pick(rows);
        const isSwap = random.chance(0.4);
        const second = isSwap ? random.pick(rows.filter(({ id }) => id !== first.id)) : undefined;
        const bit = random.below(first.sealed.length * 8);
        const damaged = second ? [first, second] : [first];
        await put(column, first.id, second?.sealed ?? flipped(first.sealed, bit));
        if (second) await put(column, second.id, first.sealed);
        const rotating = atrium.instance.rotateKeys();
        // PGlite answers without ever waiting for the network, so the load has to be let in.
        for (const before = written; written === before && failure === undefined; ) await breath();
        const report = await rotating;
        const names = damaged.map(({ id }) => `${column.table} ${id}`).sort();
        const about = `${column.table} ${first.id}, ${second ? `swapped with ${second.id}` : `bit ${bit}`}`;
        if (bit >= HEAD_BYTES * 8 || second) assert.deepEqual([...report.damaged].sort(), names, about);
        else
          assert.ok(
            report.damaged.every((name) => names.includes(name)),
            about,
          );
        assert.deepEqual(await unreadable(), names, about);
        for (const { id, sealed } of damaged) await put(column, id, sealed);
        did[second ? 'swaps' : 'flips'] += 1;
        if (count % 25 === 0) progress(`${count} of ${EACH} damages on ${driver}, ${written} writes meanwhile`);
      }
      isOver = true;
      await load;
      assert.equal(failure, undefined);
      assert.deepEqual(await unreadable(), []);
      const { body } = await atrium.as('bob')('GET', `/user/credentials/${LOAD}`);
      assert.equal(body.v, written);
      progress(`${JSON.stringify(did)} on ${driver}: all refused, ${written} writes meanwhile`);
      await atrium.close();

      /** Writes to the vault, one after the other, while keys are replaced and values are damaged. */
      async function write(): Promise<void> {
        for (; !isOver; await breath()) {
          const next = { name: LOAD, v: written + 1 };
          const { status, text } = await atrium.as('bob')(written === 0 ? 'POST' : 'PUT', '/user/credentials', next);
          assert.equal(status, written === 0 ? 201 : 204, text);
          written += 1;
        }
      }

      function rowsOf({ table, column, ownerId, identity }: SealedColumn): Promise<Row[]> {
        return atrium.rows<Row>(
          `select t.id, t.${ownerId} as owner_id, ${identity} as identity, t.${column} as sealed from ${table} t where t.${column} is not null order by t.id`,
        );
      }

      function put({ table, column }: SealedColumn, id: bigint, sealed: Buffer): Promise<unknown> {
        return atrium.rows(`update ${table} set ${column} = $2 where id = $1`, [id, sealed]);
      }

      /** Every sealed value of the deployment that does not open. */
      async function unreadable(): Promise<string[]> {
        const found: string[] = [];
        for (const column of SEALED_COLUMNS) {
          for (const { id, owner_id, identity, sealed } of await rowsOf(column)) {
            const opened = await atrium.instance.vault.open(owner_id, identity, sealed).then(
              () => true,
              () => false,
            );
            if (!opened) found.push(`${column.table} ${id}`);
          }
        }
        return found.sort();
      }
    });
  });
}

function flipped(sealed: Buffer, bit: number): Buffer {
  const copy = Buffer.from(sealed);
  copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return copy;
}

/** Values in every sealed column, of several owners. */
async function fill(atrium: TestMarketplace): Promise<void> {
  for (const who of ['ann', 'bob', 'cat']) {
    for (const name of ['one', 'two']) {
      const spec = { name: `${who}-${name}`, type: 'Other', other: { secret: `${who} ${name}` } };
      const headers = { 'Idempotency-Key': `${who}-${name}` };
      const answer = await atrium.as(who)('POST', '/user/credentials', spec, headers);
      assert.equal(answer.status, 201, answer.text);
    }
    assert.equal((await atrium.as(who)('GET', '/user/bus/credentials')).status, 200);
  }
  for (const name of ['one', 'two', 'three']) {
    const options = { license: `secret of ${name}` };
    const answer = await atrium.notify('A', binding(await atrium.installer('A'), { clusterId: name, options }));
    assert.equal(answer.status, 200, answer.text);
  }
  await fillSigningKeys(atrium);
  await fillWebhooks(atrium);
  await fillSignIns(atrium);
}

/** Two keys for tokens of clusters: the first one is so old that it signs no more, but is published still. */
async function fillSigningKeys({ instance, rows }: TestMarketplace): Promise<void> {
  for (let count = 0; count < 2; count++) {
    await rows("update cluster_token_key set created_at = now() - interval '30 days 12 hours'");
    await createSigningKeys(createSigningKeyStore(instance.db), instance.vault).current(new Date());
  }
}

/** Webhooks that send nothing, each with a present secret and a former one, and two keys of the deployment. */
async function fillWebhooks({ as, instance }: TestMarketplace): Promise<void> {
  for (const url of ['https://one.example.com/in', 'https://two.example.com/in']) {
    const made = await as('ann')('POST', '/orgs/acme/webhooks', { url, active: false });
    assert.equal(made.status, 201, made.text);
    const rotated = await as('ann')('PATCH', `/orgs/acme/webhooks/${made.body.id}`, { secret: null });
    assert.equal(rotated.status, 200, rotated.text);
  }
  const keys = createWebhookKeys(createWebhookKeyStore(instance.db), instance.vault);
  await keys.published();
  await keys.rotate();
}

/** Secrets and ID tokens of providers, and keys of authenticator apps. */
async function fillSignIns(atrium: TestMarketplace): Promise<void> {
  const provider = await startRealProvider();
  const names = ['one', 'two', 'three'];
  await provider.serve(atrium.url, ...names);
  for (const name of names) {
    await addProvider(atrium, provider, name, { create_accounts: true });
    const person = { email: `${name}@example.com`, email_verified: true };
    const { page } = await signInWith(atrium, provider, name, [name, person]);
    assert.equal(page.url, `${atrium.url}/me`, page.text);
    const { login } = await newUser(atrium);
    await addApp((await firstStep(atrium, login)).browser);
  }
  await provider.close();
  await fillTokens(atrium);
}

/** This provider gives no refresh tokens, and nobody stops between the provider and the second factor. */
async function fillTokens(atrium: TestMarketplace): Promise<void> {
  await atrium.rows(`insert into parked_sign_in (hash, account_id, provider, issuer, subject, expires_at)
    select sha256(t.subject::bytea), t.account_id, t.provider, t.issuer, t.subject, now() + interval '1 day'
      from session_provider t`);
  for (const { table, column, ownerId, identity } of SEALED_COLUMNS) {
    if (table !== 'parked_sign_in' && column !== 'refresh_token') continue;
    const rows = await atrium.rows<Pick<Row, 'id' | 'owner_id' | 'identity'>>(
      `select t.id, t.${ownerId} as owner_id, ${identity} as identity from ${table} t`,
    );
    for (const row of rows) {
      const sealed = await atrium.instance.vault.seal(row.owner_id, row.identity, `${column} of ${row.identity}`);
      await atrium.rows(`update ${table} set ${column} = $2 where id = $1`, [row.id, sealed]);
    }
  }
}
