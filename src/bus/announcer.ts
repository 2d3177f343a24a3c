import { setTimeout as pause } from 'node:timers/promises';
import type { Accounts } from './bus-accounts.ts';
import type { Link } from './connection.client.ts';
import type { Keyrings } from './keyring.ts';

interface Parts {
  readonly accounts: Accounts;
  readonly keyrings: Pick<Keyrings, 'find'>;
  /** A connection to the system account. */
  readonly link: Link;
  /** What else the bus needs once it has its accounts. */
  readonly afterwards: () => Promise<void>;
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

/**
 * Sends a running bus its accounts and the keys that they reject. The state in the database is the outbox: it changes
 * in the transaction that closes an account, and every replica sends it until the bus has it. The server accepts an
 * older text in place of a newer one, so a replica always checks again after sending: one that was late corrects it
 * immediately.
 */
export function createAnnouncer({ accounts, keyrings, link, afterwards, onChange }: Parts) {
  let told = { changedAt: 0, times: 0, at: 0 };
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
    if (changedAt === told.changedAt && isFresh) return;
    const connection = await link.get();
    const { times } = link;
    const setup = await accounts.describe();
    for (const { key, jwt } of setup.accounts) {
      if (key === setup.systemAccount) continue;
      const answer = await connection.request(UPDATE, jwt, { timeout: ANSWER_WITHIN_MS });
      const { error } = answer.json<{ error?: { description?: string } }>();
      if (error) throw new Error(`the message bus rejected an account update: ${error.description}`);
    }
    await afterwards();
    told = { changedAt: setup.changedAt, times, at: performance.now() };
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
