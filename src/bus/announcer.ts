import { setTimeout as pause } from 'node:timers/promises';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Accounts } from './bus-accounts.ts';
import type { BusConnection } from './connection.client.ts';
import type { Keyrings } from './keyring.ts';

interface AnnouncerParts {
  readonly accounts: Accounts;
  readonly keyrings: Pick<Keyrings, 'find'>;
  /** A connection to the system account. */
  readonly link: BusConnection;
  /** What else the bus needs once it has its accounts. */
  readonly afterwards: () => Promise<void>;
  /** Whether the bus has several servers, each of which has to know everything. */
  readonly isCluster: boolean;
  /** Called when updates begin to fail, and when they succeed again. */
  readonly onChange: (error: unknown) => void;
}

export type Announcer = ReturnType<typeof createAnnouncer>;

const LOOK_EVERY_MS = 1000;
const CLOSE_WITHIN_MS = 500;
/**
 * Updates are repeated even without changes, so that a replaced server or disk has its accounts again within this time.
 */
const REPEAT_AFTER_MS = 60_000;
const MAX_WAIT_MS = 10_000;
const ANSWER_WITHIN_MS = 1500;
const UPDATE = '$SYS.REQ.CLAIMS.UPDATE';
const PING = '$SYS.REQ.SERVER.PING';
const PING_WITHIN_MS = 400;

/**
 * Sends a running bus its accounts and the keys that they reject. The state in the database is the outbox: it changes
 * in the transaction that closes an account, and every replica sends it until the bus has it. The server accepts an
 * older text in place of a newer one, so a replica always checks again after sending: one that was late corrects it
 * immediately.
 *
 * In a cluster, an update reaches the servers that are there at that moment. One that was away starts with what it has
 * on its disk, so the accounts are sent again as soon as another set of servers answers.
 */
export function createAnnouncer({ accounts, keyrings, link, afterwards, isCluster, onChange }: AnnouncerParts) {
  let told = { changedAt: 0, times: 0, at: 0, servers: '' };
  let wait = LOOK_EVERY_MS;
  let isFailing = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();
  schedule();
  return { close };

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      round = look().then(succeeded, failed).then(schedule);
    }, wait).unref();
  }

  async function look(): Promise<void> {
    if ((await keyrings.find()) === undefined) return;
    const changedAt = await accounts.changedAt();
    const isFresh = performance.now() - told.at < REPEAT_AFTER_MS && told.times === link.times && told.times > 0;
    const isTold = changedAt === told.changedAt && isFresh;
    if (isTold && !isCluster) return;
    const connection = await link.get();
    const { times } = link;
    const servers = isCluster ? await serversOf(connection) : [''];
    if (isTold && servers.join() === told.servers) return;
    const setup = await accounts.describe();
    for (const { key, jwt } of setup.accounts)
      if (key !== setup.systemAccount) await send(connection, jwt, servers.length);
    await afterwards();
    told = { changedAt: setup.changedAt, times, at: performance.now(), servers: servers.join() };
  }

  /** Every server has to confirm it. */
  async function send(connection: NatsConnection, jwt: string, servers: number): Promise<void> {
    const options = { strategy: 'count', maxMessages: servers, maxWait: ANSWER_WITHIN_MS } as const;
    let confirmed = 0;
    for await (const answer of await connection.requestMany(UPDATE, jwt, options)) {
      const { error } = answer.json<{ error?: { description?: string } }>();
      if (error) throw new Error(`the message bus rejected an account update: ${error.description}`);
      confirmed += 1;
    }
    if (confirmed < servers)
      throw new Error(`${confirmed} of ${servers} servers of the bus confirmed an account update`);
  }

  /** A server that starts again has another ID. */
  async function serversOf(connection: NatsConnection): Promise<string[]> {
    const answers = await connection.requestMany(PING, '', { strategy: 'timer', maxWait: PING_WITHIN_MS });
    const ids: string[] = [];
    for await (const answer of answers) ids.push(answer.json<{ server: { id: string } }>().server.id);
    return ids.sort();
  }

  function succeeded(): void {
    wait = LOOK_EVERY_MS;
    if (isFailing) onChange(undefined);
    isFailing = false;
  }

  function failed(error: unknown): void {
    wait = Math.min(wait * 2, MAX_WAIT_MS);
    if (!isFailing) onChange(error);
    isFailing = true;
  }

  async function close(): Promise<void> {
    isClosed = true;
    clearTimeout(timer);
    // A hanging database must not keep the process alive.
    await Promise.race([round, pause(CLOSE_WITHIN_MS, undefined, { ref: false })]);
  }
}
