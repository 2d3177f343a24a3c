import { randomUUID } from 'node:crypto';
import { after } from 'node:test';
import { buildMarketplace, type DemoMarketplace } from '../../../src/operations/demo/demo-marketplace.ts';
import { type Answer, openTestServer, TEST_KEY, type TestServer, type TestServerOptions } from '../server/server.ts';
import { statement } from '../server/statement.ts';

export type Name = 'A' | 'B' | 'C';

export interface TestMarketplace extends TestServer {
  readonly demo: DemoMarketplace;
  /** Sends a notification to the marketplace's endpoint, by default with its live secret as the query. */
  notify(name: Name, body: unknown, query?: string, headers?: Record<string, string>): Promise<Answer>;
  /** An installer that is not bound yet. */
  installer(name: Name, wish?: { isTest?: boolean; days?: number }, at?: Date): Promise<string>;
  rows<Row = Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Runs a whole sweep as if it were this much later, after any sweep in progress. */
  sweep(laterMs: number): Promise<void>;
  /** The settings of a server process on the same database. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Whatever a failed test left open; otherwise the process would never end. */
const open = new Set<TestServer>();
after(async () => {
  for (const atrium of open) await atrium.close();
});

/** A server on a marketplace deployment, with everything that the demo world has there. */
export async function openMarketplace(options: TestServerOptions = {}): Promise<TestMarketplace> {
  const env: Record<string, string> = { DEPLOYMENT: 'marketplace', RUN_MODE: 'dev', ...options.env };
  const test = await openTestServer({ ...options, env });
  open.add(test);
  const demo = await buildMarketplace(test.instance.features);
  const port = test.instance.listenerPort();
  const base = port === undefined ? '' : `http://127.0.0.1:${port}`;
  const secrets = { A: '', B: `?secret=${demo.secrets.cloudB}`, C: `?secret=${demo.secrets.cloudC}` };
  return {
    ...test,
    demo,
    close: async () => {
      open.delete(test);
      await test.close();
    },
    notify: (name, body, query = secrets[name], headers = {}) =>
      test.call('POST', `${path(name)}${query}`, body, headers, base),
    installer: async (name, wish = {}, at = new Date()) =>
      (await test.instance.features.marketplace.installers.create({ marketplace: `Cloud${name}`, ...wish }, at)).id,
    rows: async (text, values) => (await test.instance.db.query(statement(text), values)) as never,
    sweep: async (laterMs) => {
      const { sweep } = test.instance.features.marketplace;
      // The instance sweeps every few seconds. The second sweep would leave out what a sweep in progress is handling.
      await sweep.once();
      await sweep.once(laterMs);
    },
    settings: {
      ATRIUM_KEY: TEST_KEY,
      DATA_DIR: test.dataDir,
      DATABASE_URL: test.instance.config.DATABASE_URL ?? '',
      ...env,
    },
  };
}

export function path(name: Name): string {
  return `/marketplace/api/v1/marketplaces/cloud${name}/notification/resource`;
}

export function applicationId(name = `app-${randomUUID().slice(0, 8)}`): string {
  const guid = '2f9b1a34-6f0d-4c7e-9a51-0d7c2b8e4f11';
  return `/subscriptions/${guid}/resourceGroups/rg-customer/providers/Microsoft.Solutions/applications/${name}`;
}

export function binding(installerId: string, more: object = {}): { bindingInfo: object } & Record<string, unknown> {
  return { bindingInfo: { marketplace: 'CloudA', installerId, clusterId: 'cluster-1', ...more } };
}
