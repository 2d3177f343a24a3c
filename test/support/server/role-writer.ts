import { readFileSync } from 'node:fs';
import { DEFAULT_LIMITS } from '../../../src/base/config/limits.ts';
import { createQuotas } from '../../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../../src/changes/revision.store.ts';
import { createRevisions } from '../../../src/changes/revision.ts';
import { openDb } from '../../../src/db/db.ts';
import { CATALOG } from '../../../src/roles/catalog.ts';
import { createRoleStore } from '../../../src/roles/roles.store.ts';

/**
 * Creates, changes and deletes roles as fast as it can, four at a time, until it is killed. It prints a line when it
 * starts, and a line for each acknowledged write: the role with its version, or that it is gone.
 */
const { databaseUrl, dataDir, organizationId, teamIds } = JSON.parse(readFileSync(0, 'utf8')) as {
  databaseUrl?: string;
  dataDir: string;
  organizationId: string;
  teamIds: string[];
};
const db = await openDb({ databaseUrl, dataDir, say: () => undefined });
const store = createRoleStore(db, createRevisions(createRevisionStore(db)).write, createQuotas(DEFAULT_LIMITS));
const actor = { id: 1n, name: 'writer', requestId: `writer-${process.pid}` };
const say = (line: string) => process.stdout.write(`${line}\n`);
say('begun');

async function write(lane: number): Promise<never> {
  const owned: bigint[] = [];
  for (let step = 0; ; step++) {
    const draft = {
      name: `${process.pid} ${lane} ${step}`,
      description: '',
      permissions: CATALOG.filter((_, place) => (place + step) % 3 === 0),
      teamIds: teamIds.filter((_, place) => (step >> place) & 1).map(BigInt),
    };
    const id = owned[step % 5];
    if (id === undefined) {
      const made = await store.create(BigInt(organizationId), draft, actor);
      if (!made || 'rejected' in made) throw new Error('a role was refused');
      owned.push(made.id);
      say(`${made.id} ${made.version}`);
    } else if (step % 7 === 0) {
      await store.remove(BigInt(organizationId), id, () => undefined, actor);
      owned.splice(step % 5, 1);
      say(`${id} gone`);
    } else {
      const made = await store.update(BigInt(organizationId), id, () => draft, actor);
      if (!made || 'rejected' in made) throw new Error('a role was refused');
      say(`${made.id} ${made.version}`);
    }
  }
}
await Promise.all([0, 1, 2, 3].map(write));
