import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Db } from '../db/db.ts';
import { createAccountsStore } from './accounts.store.ts';
import { createAccounts } from './accounts.ts';
import { type Announcer, createAnnouncer } from './announcer.ts';
import { createHistoryStream } from './history.stream.ts';
import { createHistory } from './history.ts';
import { createIssuer } from './issuer.ts';
import { createKeyringStore } from './keyring.store.ts';
import { createKeyrings, type Safe } from './keyring.ts';
import { createLink } from './link.ts';
import { serverConfig } from './server-config.ts';
import { createBusUserStore } from './users.store.ts';
import { createBusUsers } from './users.ts';

interface Surroundings {
  readonly db: Db;
  readonly safe: Safe;
  readonly log: Logger;
  readonly config: Pick<Config, 'BUS_URL' | 'BUS_WS_URL' | 'BUS_CREDENTIALS_MINUTES'>;
}

/** The message bus as the house needs it. Nothing is asked of the bus itself before there is a reason to. */
export function openBus({ db, safe, log, config }: Surroundings) {
  const { BUS_URL: url, BUS_WS_URL: wsUrl } = config;
  const keyrings = createKeyrings(createKeyringStore(db), safe);
  const accounts = createAccounts(keyrings, createAccountsStore(db));
  const system = createLink({ url, name: 'atrium', account: async () => (await keyrings.get()).system });
  const application = createLink({ url, name: 'atrium', account: async () => (await keyrings.get()).application });
  const stream = createHistoryStream(application);
  let announcer: Announcer | undefined;
  return {
    issuer: createIssuer(keyrings, createBusUsers(createBusUserStore(db), safe), config.BUS_CREDENTIALS_MINUTES * 60),
    history: createHistory(stream),
    endpoints: [url, ...(wsUrl === undefined ? [] : [wsUrl])],
    serverConfig: async (folder = './atrium-bus') => serverConfig(await accounts.describe(), { url, wsUrl, folder }),
    start,
    close,
  };

  /** From now on a running bus is told what it has to know. */
  function start(): void {
    announcer = createAnnouncer({ accounts, keyrings, link: system, afterwards: stream.ensure, onChange });
  }

  function onChange(error: unknown): void {
    if (error === undefined) log.info('the message bus knows its accounts again');
    else log.warn({ err: error }, 'the message bus could not be told about its accounts; trying on');
  }

  async function close(): Promise<void> {
    await announcer?.close();
    await Promise.all([system.close(), application.close()]);
  }
}
