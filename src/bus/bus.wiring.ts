import type { VisibleClusters } from '../authz/visible-clusters.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { type Announcer, createAnnouncer } from './announcer.ts';
import { busRoutes } from './bus.routes.ts';
import { createBusStore } from './bus.store.ts';
import { createBus } from './bus.ts';
import { createAccountsStore } from './bus-accounts.store.ts';
import { createAccounts } from './bus-accounts.ts';
import { createBusUserStore } from './bus-users.store.ts';
import { createBusUsers } from './bus-users.ts';
import { createBusConnection } from './connection.client.ts';
import { createHistoryStream } from './history.client.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { createKeyringStore } from './keyring.store.ts';
import { createKeyrings } from './keyring.ts';
import { createRevocationStore } from './revocation.store.ts';
import { createRevocation } from './revocation.ts';
import { placeOf, serverConfig, type Which } from './server-config.ts';

/** Wires the message bus. The server does not contact the bus itself until there is a reason to. */
export function wireBus(
  { db, vault, log, config, revisions }: Infrastructure,
  { callers }: Identity,
  visible: VisibleClusters,
) {
  const { BUS_URL: urls, BUS_WS_URL: wsUrls = [] } = config;
  const keyrings = createKeyrings(createKeyringStore(db), vault);
  const accounts = createAccounts(keyrings, createAccountsStore(db));
  const system = createBusConnection({ urls, name: 'atrium', account: async () => (await keyrings.get()).system });
  const application = createBusConnection({
    urls,
    name: 'atrium',
    account: async () => (await keyrings.get()).application,
  });
  const stream = createHistoryStream(application, urls.length);
  const issuer = createIssuer(
    keyrings,
    createBusUsers(createBusUserStore(db), vault),
    config.BUS_CREDENTIALS_MINUTES * 60,
  );
  const history = createHistory(stream);
  const revocation = createRevocation({
    revisions,
    store: createRevocationStore(db),
    visible,
    onError: (error) => log.warn({ err: error }, 'bus credentials could not be checked for revocation'),
  });
  let announcer: Announcer | undefined;
  return {
    issuer,
    history,
    serverConfig: async (folder = './atrium-bus', which: Which = {}) =>
      serverConfig(await accounts.describe(), placeOf({ urls, wsUrls, folder }, which)),
    mount,
    start,
    close,
  };

  function mount(scope: Scope): void {
    const store = createBusStore(db, revisions.write);
    const bus = createBus({ issuer, store, visible, personNamed: callers.personNamed });
    busRoutes(scope, { bus, history, busEndpoints: [...urls, ...wsUrls] });
  }

  /** Starts to send a running bus what it has to know, and to revoke credentials. */
  function start(): void {
    announcer = createAnnouncer({
      ...{ accounts, keyrings, link: system, afterwards: stream.ensure, onChange },
      isCluster: urls.length > 1,
    });
    revocation.start();
  }

  function onChange(error: unknown): void {
    if (error === undefined) log.info('the accounts of the message bus are up to date again');
    else log.warn({ err: error }, 'the accounts could not be sent to the message bus; retrying');
  }

  async function close(): Promise<void> {
    await revocation.close();
    await announcer?.close();
    await Promise.all([system.close(), application.close()]);
  }
}
