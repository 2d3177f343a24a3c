import { pino } from 'pino';
import { type AppParts, createApp } from '../../src/app.ts';
import { readConfig } from '../../src/base/config/config.ts';
import { DEFAULT_LIMITS } from '../../src/base/config/limits.ts';
import { createKeys, findRoot } from '../../src/base/keys.ts';
import { createMetrics } from '../../src/base/metrics.ts';
import { createQuotas } from '../../src/changes/quotas.store.ts';
import { createRevisionStore } from '../../src/changes/revision.store.ts';
import { createRevisions } from '../../src/changes/revision.ts';
import { credentialRoutes } from '../../src/credentials/credentials.routes.ts';
import { createCredentialStore } from '../../src/credentials/credentials.store.ts';
import { createCredentials } from '../../src/credentials/credentials.ts';
import { sql } from '../../src/db/db.ts';
import { createBrake } from '../../src/http/limits/brake.ts';
import { createIdempotencyStore } from '../../src/idempotency/idempotency.store.ts';
import { createIdempotency } from '../../src/idempotency/idempotency.ts';
import { createCallerStore } from '../../src/identity/callers.store.ts';
import { createCallers } from '../../src/identity/callers.ts';
import { openInstance } from '../../src/instance.ts';
import { createRingStore } from '../../src/vault/ring.store.ts';
import { openRing } from '../../src/vault/ring.ts';
import type { Vault } from '../../src/vault/vault.ts';

/**
 * Two servers in one process with one difference: the first seals its credentials, the second stores them as plain
 * text. The first argument says how many owners with one credential each are added, for a rotation.
 */
const owners = Number(process.argv[2] ?? 0);
const config = readConfig(process.env);
const atrium = await openInstance(config, { log: pino({ level: 'silent' }), say: () => undefined });
const { db } = atrium;
const root = findRoot(config.ATRIUM_KEY, config.DATA_DIR);
if (root === undefined) throw new Error('the instance has no root key');
const { keys } = await openRing(createRingStore(db), createKeys(root));
const plain: Pick<Vault, 'seal' | 'open'> = {
  seal: async (_owner, _identity, text) => Buffer.from(text),
  open: async (_owner, _identity, value) => value,
};
const spec = JSON.stringify({
  name: 'aws',
  type: 'Aws',
  aws: { accessKeyID: 'AKIA0123456789ABCDEF', secretAccessKey: 'x'.repeat(40), sessionToken: 'y'.repeat(400) },
});

const sealed = await open('sealed', atrium.vault);
const clear = await open('clear', plain);
await fill();
process.stdout.write(`${JSON.stringify({ sealed, clear })}\n`);
process.on('SIGTERM', () => process.exit(0));

async function open(name: string, vault: Pick<Vault, 'seal' | 'open'>) {
  const revisions = createRevisions(createRevisionStore(db));
  const credentials = createCredentials(
    createCredentialStore(db, revisions.write, createQuotas(DEFAULT_LIMITS)),
    vault,
  );
  const id = await atrium.features.users.create({ name, email: `${name}@example.com` });
  const { text: token } = await atrium.identity.tokens.issue({ accountId: id, name: 'bench', scopes: ['all'] });
  await credentials.create({ id, name, requestId: 'bench' }, spec);
  const parts: AppParts = {
    config: {
      DEPLOYMENT: 'standard',
      REQUEST_CPU_MS: 5000,
      RATE_LIMIT: 0,
      TRUSTED_PROXIES: [],
      CORS_ORIGINS: [],
      RESPONSE_COMPRESSION: true,
      CORS_CREDENTIALS: false,
      QUERY_TOKENS: false,
      REAUTHENTICATION_MINUTES: 15,
      SESSION_REMEMBERED_DAYS: 31,
      MARKETPLACE_PORT: undefined,
      SMTP_URL: undefined,
      TOKEN_NOTICE_DAYS: [0],
      EMAIL_CONFIRMATION: false,
      PASSWORDS: 'on',
      REGISTRATION: 'invited',
    },
    log: pino({ level: 'silent' }),
    metrics: createMetrics(() => 0),
    version: 'v0',
    baseUrl: () => '',
    brake: createBrake(20),
    noteRejection: () => undefined,
    idempotency: createIdempotency(createIdempotencyStore(db), atrium.vault, keys.derive('idempotency')),
    callers: createCallers(createCallerStore(db), revisions, keys.derive('token')),
    tokenUsage: { note: () => undefined },
    sessionUsage: { note: () => undefined },
    secondFactors: { isMissing: async () => false },
    relations: {
      require: async () => undefined,
      requireOn: async () => 0n,
      noteMember: () => undefined,
      ownerOf: async () => undefined,
    },
    mounts: {
      platform: [(scope) => credentialRoutes(scope, credentials)],
      root: [],
      listener: [],
      scim: [],
      authzen: [],
      mcp: [],
      authzenRequests: [],
      oauth: [],
    },
  };
  const { app } = createApp(parts);
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), token };
}

async function fill(): Promise<void> {
  const accounts = sql(
    'bench.accounts',
    `insert into account (kind, name) select 'user', 'owner' || n from generate_series(1, $1::int) n returning id`,
  );
  const insert = sql(
    'bench.credential',
    `insert into credential (owner_id, name, type, sealed) values ($1, 'aws', 'Aws', $2)`,
  );
  const left = await db.query<{ id: bigint }>(accounts, [owners]);
  const work = async () => {
    for (let one = left.pop(); one; one = left.pop()) {
      await db.query(insert, [one.id, await atrium.vault.seal(one.id, 'credential aws', spec)]);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}
