import { pino } from 'pino';
import { createApp } from '../src/app.ts';
import { type Config, readConfig } from '../src/base/config/config.ts';
import { limitsOf } from '../src/base/config/limits.ts';
import { createKeys } from '../src/base/keys.ts';
import { createMetrics } from '../src/base/metrics.ts';
import { API_VERSION } from '../src/base/release.ts';
import { createQuotas } from '../src/changes/quotas.store.ts';
import type { Revisions } from '../src/changes/revision.ts';
import type { Db } from '../src/db/db.ts';
import { wireFeatures } from '../src/features.ts';
import type { BookedRoute } from '../src/http/admission/route-book.ts';
import { createBrake } from '../src/http/limits/brake.ts';
import { unshared } from '../src/http/limits/rate-limit.ts';
import type { Idempotency } from '../src/idempotency/idempotency.ts';
import { wireIdentity } from '../src/identity/identity.wiring.ts';
import type { Vault } from '../src/vault/vault.ts';
import { type DocumentedRoute, describeApi } from './openapi/openapi.ts';

export type ApiDocument = ReturnType<typeof describeApi>;

const DEPLOYMENTS: readonly Config['DEPLOYMENT'][] = ['standard', 'hosted', 'marketplace'];

/** The OpenAPI document of every route that any deployment has, generated without a database. */
export async function describeEveryDeployment(): Promise<ApiDocument> {
  const found = new Map<string, DocumentedRoute>();
  for (const deployment of DEPLOYMENTS) {
    for (const route of await routesOf(deployment)) {
      const name = `${route.method} ${route.path}`;
      const others = found.get(name)?.deployments ?? [];
      found.set(name, { ...route, deployments: [...others, deployment] });
    }
  }
  const routes = [...found.values()].map(({ deployments = [], ...route }) =>
    deployments.length === DEPLOYMENTS.length ? route : { ...route, deployments },
  );
  return describeApi(routes, API_VERSION);
}

async function routesOf(deployment: Config['DEPLOYMENT']): Promise<readonly BookedRoute[]> {
  const config = readConfig({ DEPLOYMENT: deployment, RATE_LIMIT: '0' });
  const keys = createKeys(Buffer.alloc(32));
  const db = absent<Db>('db');
  const revisions: Revisions = {
    ...absent<Revisions>('revisions'),
    latest: 0n,
    queries: 0,
    listen: () => undefined,
    addExpirer: () => undefined,
    write: absent('write'),
  };
  const quotas = createQuotas(limitsOf(config));
  const log = pino({ level: 'silent' });
  const infrastructure = {
    vault: absent<Vault>('vault'),
    version: API_VERSION,
    config,
    keys,
    db,
    revisions,
    writeGuards: [],
    quotas,
    log,
    metrics: createMetrics(() => 0),
    share: unshared,
    baseUrl: () => 'http://127.0.0.1:3000',
  };
  const identity = wireIdentity(db, revisions, quotas, keys);
  const brake = createBrake(1);
  const { relations, mounts, noteRejection } = await wireFeatures(infrastructure, identity, brake);
  const { app, routes } = createApp({
    ...infrastructure,
    ...identity,
    relations,
    noteRejection,
    brake,
    idempotency: absent<Idempotency>('idempotency'),
    mounts,
  });
  await app.ready();
  await app.close();
  return routes;
}

/** Routes are mounted but never called, so a dependency may be missing as long as it is not called. */
function absent<T extends object>(port: string): T {
  const refuse = (method: string | symbol) => () => {
    throw new Error(`${port}.${String(method)} was called, but only the routes are wanted here`);
  };
  return new Proxy({}, { get: (_target, method) => refuse(method) }) as T;
}
