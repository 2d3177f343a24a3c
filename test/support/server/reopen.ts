import { Writable } from 'node:stream';
import { readConfig } from '../../../src/base/config/config.ts';
import { createLog } from '../../../src/base/log.ts';
import { type Instance, openInstance } from '../../../src/instance.ts';
import type { Place } from './db.ts';

/** A server in this process on an existing database. Without ATRIUM_KEY it uses the key file of the place. */
export async function reopen(
  { dataDir, databaseUrl = '' }: Place,
  env: Readonly<Record<string, string>> = {},
): Promise<Instance> {
  const config = readConfig({ PORT: '0', ADMIN_PORT: '0', DATA_DIR: dataDir, DATABASE_URL: databaseUrl, ...env });
  const log = createLog('error', new Writable({ write: (_chunk, _encoding, done) => done() }));
  return openInstance(config, { log, say: () => undefined });
}
