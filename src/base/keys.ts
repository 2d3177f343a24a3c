import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from './errors.ts';

/** The root of all secrets. Every purpose gets its own key, so that none can be used for another. */
export interface Keys {
  derive(purpose: string): Buffer;
  /** Distinguishes two root keys without revealing either. */
  readonly fingerprint: string;
}

export function createKeys(root: Buffer): Keys {
  return {
    derive: (purpose) => Buffer.from(hkdfSync('sha256', root, '', `atrium:${purpose}`, 32)),
    fingerprint: createHash('sha256').update('atrium:fingerprint').update(root).digest('hex').slice(0, 32),
  };
}

/** The configured key, or the key file in the data folder, created on first start and readable by its owner only. */
export function loadKeys(configured: Buffer | undefined, dataDir: string): Keys {
  return createKeys(configured ?? keyFile(dataDir));
}

/** The root key, if there is one. Does not create one. */
export function findRoot(configured: Buffer | undefined, dataDir: string): Buffer | undefined {
  return configured ?? readKey(keyPath(dataDir));
}

export function keyPath(dataDir: string): string {
  return join(dataDir, 'atrium.key');
}

/** Writes a root key into a data folder that has none. */
export function placeRoot(root: Buffer, dataDir: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(keyPath(dataDir), `${root.toString('base64')}\n`, { mode: 0o600, flush: true, flag: 'wx' });
}

function keyFile(dataDir: string): Buffer {
  const path = keyPath(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const existing = readKey(path);
  if (existing) return existing;
  // Written to a draft and linked into place: two first starts at once end with one key, and never with half of one.
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(draft);
  }
  const made = readKey(path);
  if (!made) throw new AppError('internal', `the key file ${path} could not be created`);
  return made;
}

function readKey(path: string): Buffer | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32) throw new AppError('internal', `the key file ${path} is damaged: restore it from a backup`);
  return key;
}
