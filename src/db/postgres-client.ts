import pg from 'pg';
import { AppError } from '../base/errors.ts';
import type { Step } from './transaction.ts';

/** The servers that `DATABASE_URL` names. Connections go to the server that was the primary at the last look. */
export interface Hosts {
  readonly count: number;
  current(): string;
  /** This one is down, or a standby: the next connection goes to the next one. */
  moveOn(url: string): void;
}

export interface PostgresConfig extends pg.ClientConfig {
  readonly hosts: Hosts;
  readonly patience: number;
  /**
   * Behind a pooler, each transaction may reach another server process. Then this is what the pooler cannot be told when
   * connecting: how each transaction starts.
   */
  readonly atBegin?: readonly Step[];
}

/** Part of node-postgres that its types do not declare. */
interface Startup {
  getStartupConf(): Record<string, string>;
}

const PLAIN = pg.Client.prototype as unknown as Startup;
/** All that PgBouncer lets a client set when connecting, and keeps for it: these are set on whatever it gets. */
const KEPT_BY_POOLERS = { TimeZone: 'UTC', DateStyle: 'ISO' };

export function createHosts(urls: readonly string[]): Hosts {
  let at = 0;
  const current = () => urls[at] ?? '';
  return {
    count: urls.length,
    current,
    moveOn(url) {
      if (url === current()) at = (at + 1) % urls.length;
    },
  };
}

/** A connection to the current host. If there are several, it is good only if that one is the primary. */
export class PostgresClient extends pg.Client {
  readonly #config: PostgresConfig;
  readonly #url: string;

  constructor(config: PostgresConfig) {
    const url = config.hosts.current();
    super({ ...config, connectionString: url });
    this.#config = config;
    this.#url = url;
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = this.#connectToPrimary();
    if (callback === undefined) return connected;
    connected.then(() => (callback as () => void)(), callback);
    return undefined;
  }

  getStartupConf(): Record<string, string> {
    const own = PLAIN.getStartupConf.call(this);
    return this.#config.atBegin === undefined ? own : { ...own, ...KEPT_BY_POOLERS };
  }

  async #connectToPrimary(): Promise<pg.Client> {
    const { hosts } = this.#config;
    try {
      await super.connect();
      if (hosts.count > 1) await this.#requirePrimary();
      return this;
    } catch (error) {
      hosts.moveOn(this.#url);
      throw error;
    }
  }

  async #requirePrimary(): Promise<void> {
    const { rows } = await this.query<{ is_standby: boolean }>('select pg_is_in_recovery() as is_standby');
    if (!rows[0]?.is_standby) return;
    this.connection.stream.destroy();
    throw new AppError('unavailable', 'none of the servers of DATABASE_URL is a primary', { retryAfter: 1 });
  }
}
