import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createVerificationStore } from '../../src/audit/verification/verification.store.ts';
import { appendAudit } from '../../src/changes/audit-chain.store.ts';
import type { AuditEntry } from '../../src/changes/audit-entry.ts';
import type { Db } from '../../src/db/db.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { DRIVERS, migrated, openTestDb } from '../support/server/db.ts';
import { statement } from '../support/server/statement.ts';

const TEXTS = [
  '',
  'plain',
  'quo"te',
  'back\\slash',
  'new\nline',
  'tab\t',
  '\u2028',
  'Zoë',
  '😀',
  '\ud800',
  '\u0000',
  "it's",
  '\\u0041',
  '%s',
];
/** PostgreSQL stores neither of the others as a text of its own. */
const NAMES = TEXTS.filter((text) => text !== '\u0000' && text.isWellFormed());
const CHAINS = [1n, 2n, 3n, -4n, 5n];
const ROUNDS = 60;
const LAST = statement('select at from audit where organization_id = $1 order by id desc limit 1');

for (const driver of DRIVERS) {
  describe(`Hashes that the database computes, on ${driver}`, () => {
    let db: Db;
    before(async () => {
      db = await openTestDb(driver, {}, migrated());
    });
    after(() => db?.close());

    const append = (entries: readonly AuditEntry[]) => db.transaction((query) => appendAudit(query, entries));
    const links = (chain: bigint) => createVerificationStore(db).chain(chain, 0n, 1000);

    it(`They are those that the server computes, whatever an entry says and whoever wrote the one before, with seed ${SEED}`, async () => {
      const random = createRandom();
      const state = () => ({
        name: random.pick(TEXTS),
        id: BigInt(random.below(1_000)),
        list: [random.pick(TEXTS), null],
      });
      const entryOf = (organizationId: bigint): AuditEntry => ({
        actor: {
          // A third are made by robot 7.
          ...{ id: random.chance(0.3) ? -7n : 7n, name: random.pick(NAMES), requestId: 'r' },
          ...(random.chance(0.2) && { sudoBy: { id: 8n, name: 'root' } }),
        },
        ...{ organizationId, action: 'role.update', objectType: 'role', objectId: BigInt(random.below(1_000_000)) },
        ...(random.chance(0.7) && { before: state() }),
        ...(random.chance(0.7) && { after: state() }),
      });
      for (let round = 0; round < ROUNDS; round++) {
        const chains = random.some(CHAINS, 0.6);
        // Two of one chain are hashed by the server.
        await append(
          chains.flatMap((chain) => (random.chance(0.2) ? [entryOf(chain), entryOf(chain)] : [entryOf(chain)])),
        );
      }
      for (const chain of CHAINS) {
        const found = await links(chain);
        assert.ok(found.length > ROUNDS / 4, `${found.length} entries`);
        let previous: Buffer = Buffer.alloc(32);
        for (const link of found) {
          assert.deepEqual([link.hash, link.previousHash], [link.expected, previous]);
          previous = link.hash;
        }
      }
    });

    it('A time never runs backwards, and is of whole milliseconds even after one that is not', async () => {
      const entry: AuditEntry = {
        actor: { id: 7n, name: 'ann', requestId: '' },
        ...{ organizationId: 9n, action: 'role.update', objectType: 'role', objectId: 1n },
      };
      await append([entry]);
      await db.query(statement(`update audit set at = '2099-01-02T03:04:05.678901Z' where organization_id = 9`));
      await append([entry]);
      const [row] = await db.query<{ at: Date }>(LAST, [9n]);
      assert.equal(row?.at.toISOString(), '2099-01-02T03:04:05.678Z');
      const [, second] = await links(9n);
      assert.deepEqual(second?.hash, second?.expected);
    });
  });
}
