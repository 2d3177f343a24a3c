import type { Config } from '../../base/config/config.ts';
import { SETTINGS } from '../../base/config/settings.ts';
import { type BusConnection, createBusConnection } from '../../bus/connection.client.ts';
import { STREAM } from '../../bus/history.client.ts';
import { createKeyringStore } from '../../bus/keyring.store.ts';
import { createKeyrings, type Safe } from '../../bus/keyring.ts';
import type { Db } from '../../db/db.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const CHECK = 'bus';
const WITHIN_MS = 2000;

/** Connects as the server itself does and looks for the stream. Creates neither keys nor the stream. */
export async function examineBus(db: Db, safe: Safe, { BUS_URL: urls }: Config): Promise<Finding[]> {
  const host = urls.map((url) => new URL(url).host).join(', ');
  const keys = await createKeyrings(createKeyringStore(db), safe).find();
  if (!keys) return [ok(CHECK, 'the message bus has not been used yet')];
  const link = createBusConnection({ urls, name: 'atrium doctor', account: async () => keys.application, once: true });
  try {
    return [await examineLink(link, host, urls.join() === SETTINGS.BUS_URL.fallback)];
  } finally {
    await link.close();
  }
}

async function examineLink(link: BusConnection, host: string, isDefault: boolean): Promise<Finding> {
  const connection = await link.get().catch((error: Error) => error);
  if (connection instanceof Error) {
    const { name, message } = (connection.cause ?? connection) as Error;
    if (/authorization|authentication/i.test(`${name} ${message}`)) {
      return fault(
        CHECK,
        `${host} rejects our credentials`,
        'Start the NATS server with the output of "atrium bus config".',
      );
    }
    const advice = 'Start the NATS server with the output of "atrium bus config", or correct BUS_URL.';
    // The address is the default, so the operator has not set it: most installations have no bus.
    return (isDefault ? warning : fault)(CHECK, `${host} cannot be reached`, advice);
  }
  const { JetStreamApiError, jetstreamManager } = await import('@nats-io/jetstream');
  try {
    const manager = await jetstreamManager(connection, { checkAPI: false, timeout: WITHIN_MS });
    await manager.streams.info(STREAM);
    return ok(CHECK, `${host} accepts our credentials and has the stream ${STREAM}`);
  } catch (error) {
    if (error instanceof JetStreamApiError) {
      return warning(
        CHECK,
        `${host} has no stream ${STREAM} (${error.message})`,
        'Start a server: it creates the stream within a minute.',
      );
    }
    return fault(CHECK, `${host} has no JetStream`, 'Start the NATS server with the output of "atrium bus config".');
  }
}
