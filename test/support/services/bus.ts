import { decode } from '@nats-io/jwt';
import type { NatsConnection } from '@nats-io/transport-node';
import { openTestServer, type TestServer } from '../server/server.ts';
import { newNats, type TestNats } from './nats.ts';

export interface TestBus extends TestServer {
  readonly nats: TestNats;
  /** Empty on PGlite. */
  readonly databaseUrl: string;
  /** The .creds file of that user, fetched now. */
  credentials(name: string): Promise<string>;
  /** Connects as that user, with the user's own inbox. */
  connect(name: string): Promise<NatsConnection>;
}

/** A server, and next to it a NATS server with the configuration that the server prints. */
export async function openTestBus(env: Readonly<Record<string, string>> = {}): Promise<TestBus> {
  const nats = await newNats();
  const atrium = await openTestServer({ env: { ...nats.env, ...env }, hasOurClock: true });
  await nats.start(await atrium.instance.features.bus.serverConfig(nats.folder));
  const credentials = async (name: string) => fileOf((await atrium.as(name)('GET', '/user/bus/credentials')).body);
  return {
    ...atrium,
    nats,
    databaseUrl: atrium.instance.config.DATABASE_URL ?? '',
    credentials,
    connect: async (name) => nats.connect(await credentials(name), { inboxPrefix: inboxOf(atrium, name) }),
    async close() {
      await atrium.close();
      await nats.kill();
    },
  };
}

export function inboxOf(atrium: TestServer, name: string): string {
  return `_INBOX.${atrium.world.users[name]?.id}`;
}

export function fileOf(body: { credentials: string }): string {
  return Buffer.from(body.credentials, 'base64').toString('utf8');
}

/** What the file allows its user to do. */
export function claimsOf(file: string) {
  const jwt = /BEGIN NATS USER JWT-+\n(\S+)\n/.exec(file)?.[1] ?? '';
  const { nats, ...claims } = decode<Partial<Record<'pub' | 'sub', { allow: string[] }>>>(jwt);
  return { ...claims, user: String(claims.sub), publish: nats.pub?.allow ?? [], subscribe: nats.sub?.allow ?? [] };
}

/** Whether NATS lets this connection subscribe. It answers in order, so its rejection has arrived after a flush. */
export async function mayHear(connection: NatsConnection, subject: string): Promise<boolean> {
  let refused: Error | undefined;
  const subscription = connection.subscribe(subject, {
    callback: (error) => {
      if (error) refused = error;
    },
  });
  await connection.flush();
  if (!refused) subscription.unsubscribe();
  return refused === undefined;
}

/**
 * Whether NATS lets this connection publish. It answers in order, so the rejection of the second message comes last.
 */
export async function maySay(connection: NatsConnection, subject: string): Promise<boolean> {
  const refused = 'nobody.may.publish.here';
  const statuses = connection.status();
  connection.publish(subject, '{}');
  connection.publish(refused, '{}');
  let isAllowed = true;
  for await (const status of statuses) {
    if (status.type !== 'error') continue;
    if (status.error.message.includes(`"${subject}"`)) isAllowed = false;
    if (status.error.message.includes(`"${refused}"`)) break;
  }
  return isAllowed;
}
