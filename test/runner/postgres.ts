import { join } from 'node:path';
import { digest, isCached, keepDraft, newDraft, SOURCES_KEY } from '../support/server/db.ts';
import { startPostgres, type TestPostgres } from '../support/services/postgres.ts';

/** No database of a run outlives a crash of this server. Each copy of one is a checkpoint, after which pages are logged whole. */
const SETTINGS = { full_page_writes: 'off', synchronous_commit: 'off', update_process_title: 'off' };

/**
 * The PostgreSQL server of a whole run. Creating a cluster and the demo world takes seconds, so both are cached, and a
 * run starts from a copy.
 */
export async function startSuitePostgres(): Promise<TestPostgres> {
  const cached = join('.cache', `postgres-${digest([SOURCES_KEY, process.env.TEST_CHEAP_PASSWORDS ?? ''])}`);
  if (!isCached(cached)) {
    // Imported only here, because loading the server takes most of a second.
    const { DEMO_WORLD } = await import('../support/server/server.ts');
    const { postgresTemplate } = await import('../support/server/db.ts');
    const server = await startPostgres();
    await postgresTemplate(server.url, DEMO_WORLD);
    const draft = newDraft('postgres');
    await server.stopAndKeep(join(draft, 'data'));
    keepDraft(draft, cached);
  }
  return startPostgres({ from: join(cached, 'data'), settings: SETTINGS });
}
