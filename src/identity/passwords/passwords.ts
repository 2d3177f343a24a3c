import { argon2, type BinaryLike, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { createHashQueue } from './hash-queue.ts';

const TAG_LENGTH = 32;
const SHAPE = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,3}),p=(\d{1,2})\$([\w+/]+)\$([\w+/]+)$/;
/**
 * Each hash takes 19 MiB and a whole core while it runs: at most this many run at the same time, and other hashes wait. One core stays
 * free for requests, and one thread of the pool, which has four, for files.
 */
const AT_ONCE = Math.min(3, Math.max(1, availableParallelism() - 1));
/** A request that arrives when this many are waiting would wait for longer than clients do. */
const MAX_WAITING = 100 * AT_ONCE;

interface Cost {
  readonly memory: number;
  readonly passes: number;
  readonly parallelism: number;
}

/** Argon2id with the minimum cost that OWASP recommends. Runs on the thread pool, never on the event loop. */
let costOfNew: Cost = { memory: 19_456, passes: 2, parallelism: 1 };

const derive = promisify(argon2);
const inTurn = createHashQueue(AT_ONCE, MAX_WAITING);

/** For tests, which hash thousands of passwords. Nothing in the product calls it, and no setting leads to it. */
export function setPasswordCost(cost: Cost): void {
  costOfNew = cost;
}

export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const cost = costOfNew;
  const tag = await argon2id(password, salt, TAG_LENGTH, cost, undefined);
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${text(salt)}$${text(tag)}`;
}

/** `address` is where the password came from: one network cannot fill the queue alone. */
export async function verifyPassword(password: string, stored: string, address?: string): Promise<boolean> {
  const [, memory, passes, parallelism, salt = '', tag = ''] = SHAPE.exec(stored) ?? [];
  if (memory === undefined) return false;
  const expected = Buffer.from(tag, 'base64');
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) };
  return timingSafeEqual(
    expected,
    await argon2id(password, Buffer.from(salt, 'base64'), expected.length, cost, address),
  );
}

let absent: Promise<string> | undefined;

/** Takes as long as a real verification, so that the time does not reveal whether a name exists. */
export async function verifyAbsentPassword(password: string, address?: string): Promise<false> {
  // Fails if too many are waiting. Remembering that failure would distinguish names that do not exist from those that
  // do.
  absent ??= hashPassword(randomBytes(16).toString('hex')).catch((error) => {
    absent = undefined;
    throw error;
  });
  await verifyPassword(password, await absent, address);
  return false;
}

async function argon2id(
  message: string,
  nonce: BinaryLike,
  tagLength: number,
  cost: Cost,
  address: string | undefined,
): Promise<Buffer> {
  return await inTurn(address, () => derive('argon2id', { message, nonce, tagLength, ...cost }));
}

const text = (bytes: Buffer) => bytes.toString('base64').replace(/=+$/, '');
