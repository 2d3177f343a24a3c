import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions } from '../../src/changes/revision.ts';
import { openDb } from '../../src/db/db.ts';
import { CATALOG } from '../../src/roles/catalog.ts';
import { createRoleStore } from '../../src/roles/roles.store.ts';

/** Another process that writes twenty roles a second, all in the organization that is being queried. */
const [databaseUrl = '', organizationId = '0', teamId = '0'] = process.argv.slice(2);
const EVERY_MS = 50;
const KEPT = 20;
const db = await openDb({ databaseUrl, dataDir: '.', say: () => undefined });
const store = createRoleStore(db, createRevisions(createRevisionStore(db)).write, createQuotas(DEFAULT_LIMITS));
const actor = { id: 1n, name: 'writer', requestId: 'bench' };
const organization = BigInt(organizationId);
const known: bigint[] = [];
let step = 0;
process.on('SIGTERM', () => process.exit(0));
process.stdout.write('writing\n');
for (;;) {
  const began = performance.now();
  const permissions = CATALOG.filter((_, place) => (place + step) % 5 === 0);
  const draft = { name: `writer ${step++}`, description: '', permissions, teamIds: [BigInt(teamId)] };
  const old = known.length < KEPT ? undefined : known[step % KEPT];
  if (old !== undefined) await store.update(organization, old, () => draft, actor);
  else {
    const made = await store.create(organization, draft, actor);
    if (made && 'id' in made) known.push(made.id);
  }
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY_MS - (performance.now() - began))));
}
