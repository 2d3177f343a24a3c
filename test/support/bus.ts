import { setTimeout as pause } from 'node:timers/promises';
import { decode } from '@nats-io/jwt';
import type { NatsConnection } from '@nats-io/transport-node';
import { newPlace } from './db.ts';
import { openTestHouse, type TestHouse } from './house.ts';
import { newNats, type TestNats } from './nats.ts';

export interface TestBus extends TestHouse {
  readonly nats: TestNats;
  readonly databaseUrl: string;
  /** The .creds file of that person, fetched now. */
  credentials(name: string): Promise<string>;
  /** Connected as that person, with the inbox that is theirs. */
  connect(name: string): Promise<NatsConnection>;
}

/** A house, and beside it a NATS server with the configuration that the house prints. */
export async function openTestBus(env: Readonly<Record<string, string>> = {}): Promise<TestBus> {
  const nats = await newNats();
  const { databaseUrl = '' } = await newPlace('postgres');
  const house = await openTestHouse({ env: { ...nats.env, DATABASE_URL: databaseUrl, ...env } });
  await nats.start(await house.house.bus.serverConfig(nats.folder));
  const credentials = async (name: string) => fileOf((await house.as(name)('GET', '/user/bus/credentials')).body);
  return {
    ...house,
    nats,
    databaseUrl,
    credentials,
    connect: async (name) => nats.connect(await credentials(name), { inboxPrefix: inboxOf(house, name) }),
    async close() {
      await house.close();
      await nats.kill();
    },
  };
}

export function inboxOf(house: TestHouse, name: string): string {
  return `_INBOX.${house.world.users[name]?.id}`;
}

export function fileOf(body: { credentials: string }): string {
  return Buffer.from(body.credentials, 'base64').toString('utf8');
}

/** What the file says that its user may do. */
export function claimsOf(file: string) {
  const jwt = /BEGIN NATS USER JWT-+\n(\S+)\n/.exec(file)?.[1] ?? '';
  const { nats, ...claims } = decode<Partial<Record<'pub' | 'sub', { allow: string[] }>>>(jwt);
  return { ...claims, user: String(claims.sub), publish: nats.pub?.allow ?? [], subscribe: nats.sub?.allow ?? [] };
}

/** Whether the server lets this connection subscribe: it answers in order, so after a flush its refusal has arrived. */
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

export async function maySay(connection: NatsConnection, subject: string): Promise<boolean> {
  const said = connection.status();
  let refused = false;
  const watching = (async () => {
    for await (const status of said) {
      if (status.type === 'error' && status.error.message.includes(`"${subject}"`)) refused = true;
    }
  })();
  connection.publish(subject, '{}');
  await connection.flush();
  await pause(20);
  // Ends the watching.
  (said as AsyncIterable<unknown> & { stop?: () => void }).stop?.();
  void watching;
  return !refused;
}

export async function until(isSo: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  const patience = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > patience) throw new Error(`not so within ${withinMs} ms: ${isSo}`);
    await pause(50);
  }
}
