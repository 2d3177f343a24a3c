import type { AppError } from '../base/errors.ts';
import { lostDatabase } from './database-errors.ts';
import { PostgresClient, type PostgresConfig } from './postgres-client.ts';

/** Counted in ticks, not in time: a process that was paused must not take its own pause for that of the server. */
const TICK_MS = 250;
const PROBE_AFTER_TICKS = 2;
const SILENT_AFTER_TICKS = 7;
/** A probe that has not been answered by then is replaced: its connection may have been cut off. */
const PROBE_FOR_TICKS = 8;
const STEPS = ['sslconnect', 'authenticationSASL', 'authenticationSASLContinue', 'authenticationOk'];

/**
 * Notices that the server does not answer at all, long before the timeouts of single statements.
 *
 * 1. If calls are under way and nothing was heard for half a second, a separate connection asks for a sign of life. So
 *    a long statement, a lock or a full pool is never taken for a server that hangs.
 * 2. If nothing was heard for almost two seconds, every call under way fails, and further calls fail immediately.
 * 3. The probe continues, and its answer ends the silence at that moment.
 */
export function createPulse(config: PostgresConfig, database: string) {
  const listeners = new Set<(error: AppError) => void>();
  let underWay = 0;
  let isHeard = false;
  let quietTicks = 0;
  let silence: AppError | undefined;
  let probe: Probe | undefined;
  const timer = setInterval(tick, TICK_MS).unref();

  return {
    /** Why nothing is sent at the moment; undefined while the server answers. */
    get silence() {
      return silence;
    },
    /** Calls between `begin` and `end` wait for the server. */
    begin(): void {
      underWay += 1;
    },
    end(): void {
      underWay -= 1;
    },
    heard,
    /** Called when the silence begins. */
    listen(listener: (error: AppError) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    stop(): void {
      clearInterval(timer);
      probe?.drop();
    },
  };

  /** The server, or the network on its behalf, said something: that need not be good news. */
  function heard(): void {
    isHeard = true;
    silence = undefined;
  }

  function tick(): void {
    if (isHeard || (underWay === 0 && silence === undefined)) {
      isHeard = false;
      quietTicks = 0;
      probe?.drop();
      probe = undefined;
      return;
    }
    quietTicks += 1;
    if (quietTicks >= PROBE_AFTER_TICKS) renewProbe();
    if (quietTicks >= SILENT_AFTER_TICKS * config.patience && silence === undefined) begin();
  }

  function begin(): void {
    silence = lostDatabase(`${database} cannot be used: the server does not answer`);
    for (const listener of listeners) listener(silence);
  }

  function renewProbe(): void {
    if (probe !== undefined && !probe.isOver && probe.ticks++ < PROBE_FOR_TICKS * config.patience) return;
    probe?.drop();
    probe = startProbe(config, heard);
  }
}

export type Pulse = ReturnType<typeof createPulse>;

interface Probe {
  ticks: number;
  isOver: boolean;
  drop(): void;
}

function startProbe(config: PostgresConfig, heard: () => void): Probe {
  const client = new PostgresClient({ ...config, connectionTimeoutMillis: 0, query_timeout: 0 });
  const probe: Probe = {
    ticks: 0,
    isOver: false,
    drop() {
      probe.isOver = true;
      client.connection.stream.destroy();
    },
  };
  const finish = () => {
    if (!probe.isOver) heard();
    probe.drop();
  };
  // An error is an answer too: no call waits in vain for a server that is down.
  client.on('error', finish);
  // Over a slow network, signing in takes longer than a query, so each of its steps counts as a sign of life. A pooler
  // lets every client in, whether there is a server behind it or not.
  for (const step of config.atBegin === undefined ? STEPS : [])
    client.connection.on(step, () => probe.isOver || heard());
  client
    .connect()
    .then(() => client.query('select 1'))
    .then(finish, finish);
  return probe;
}
