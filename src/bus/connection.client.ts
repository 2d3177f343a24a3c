import type { NatsConnection } from '@nats-io/transport-node';
import { AppError } from '../base/errors.ts';
import { userJwt } from './jwt-claims.ts';
import { createNkeyPair, type NkeyPair } from './nkeys.ts';

/** Our own connection to one account of the bus. */
export interface BusConnection {
  /** Fails quickly with `unavailable` while the bus cannot be reached. */
  get(): Promise<NatsConnection>;
  /** Increases with every connection: what was sent to the bus before may have reached a different server. */
  readonly times: number;
  close(): Promise<void>;
}

interface BusConnectionOptions {
  /** Of all servers of the bus. If the one in use is lost, another takes over. */
  readonly urls: readonly string[];
  readonly name: string;
  /** The account that this connection belongs to. */
  readonly account: () => Promise<NkeyPair>;
  /** Makes one attempt, whose error says what is wrong: for callers that only check the connection. */
  readonly once?: boolean;
}

const CONNECT_WITHIN_MS = 1500;
/** A server that does not know an account searches for it for two seconds before it rejects the connection. */
const ANSWER_WITHIN_MS = 5000;
const TRY_AGAIN_MS = 250;
const EVERYTHING = ['>'];

/**
 * Connects when first needed and then reconnects by itself. It creates its own user, whose key exists only in memory
 * and is gone when the process ends.
 */
export function createBusConnection({ urls, name, account, once = false }: BusConnectionOptions): BusConnection {
  const self = createNkeyPair('user');
  let connecting: Promise<NatsConnection> | undefined;
  let connection: NatsConnection | undefined;
  let isUp = false;
  let times = 0;
  let isClosed = false;

  return {
    get,
    close,
    get times() {
      return times;
    },
  };

  async function get(): Promise<NatsConnection> {
    if (connection !== undefined) {
      if (isUp) return connection;
      throw busUnavailable('the connection to the message bus is lost');
    }
    connecting ??= open().finally(() => {
      connecting = undefined;
    });
    return await connecting;
  }

  async function open(): Promise<NatsConnection> {
    if (isClosed) throw busUnavailable('this server is closing');
    const issuer = await account();
    // Loaded when used: most installations start without a bus.
    const { connect } = await import('@nats-io/transport-node');
    const made = await connect({
      servers: [...urls],
      name,
      ...(urls[0]?.startsWith('tls:') && { tls: {} }),
      authenticator: (nonce) => prove(issuer, nonce ?? ''),
      timeout: once ? ANSWER_WITHIN_MS : CONNECT_WITHIN_MS,
      ...(once
        ? { reconnect: false }
        : { maxReconnectAttempts: -1, reconnectTimeWait: TRY_AGAIN_MS, ignoreAuthErrorAbort: true }),
    }).catch((cause: unknown) => {
      throw busUnavailable('the message bus cannot be reached', cause);
    });
    connection = made;
    isUp = true;
    times++;
    void watch(made);
    if (isClosed) await made.close();
    return made;
  }

  function prove(issuer: NkeyPair, nonce: string) {
    const claims = { name, user: self.publicKey, issuedAt: Math.floor(Date.now() / 1000) };
    const jwt = userJwt(issuer, { ...claims, publish: EVERYTHING, subscribe: EVERYTHING });
    return { jwt, nkey: self.publicKey, sig: self.sign(nonce).toString('base64url') };
  }

  async function watch(made: NatsConnection): Promise<void> {
    void made.closed().then(() => {
      if (connection === made) connection = undefined;
    });
    for await (const { type } of made.status()) {
      if (type === 'disconnect') isUp = false;
      if (type !== 'reconnect') continue;
      isUp = true;
      times++;
    }
  }

  async function close(): Promise<void> {
    isClosed = true;
    await connecting?.catch(() => undefined);
    await connection?.close();
  }
}

export function busUnavailable(message: string, cause?: unknown): AppError {
  return new AppError('unavailable', message, { retryAfter: 2, ...(cause !== undefined && { cause }) });
}
