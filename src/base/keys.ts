import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** The root key, if there is one. Does not create one. */
export function findRoot(configured: Buffer | undefined, dataDir: string): Buffer | undefined {
  return configured ?? readKey(keyPath(dataDir));
}

export function keyPath(dataDir: string): string {
  return join(dataDir, 'atrium.key');
}

/** Writes a root key into a data folder that has none. */
export function placeRoot(root: Buffer, dataDir: string): void {
  if (!place(root, dataDir, keyPath(dataDir))) {
    throw new AppError('conflict', `${keyPath(dataDir)} already exists, and no key is ever overwritten`);
  }
}

/**
 * The root key that a first start proposes: the one that an interrupted first start proposed, or a new one. It becomes
 * the key file only when the database knows it, so a key file always belongs to a database.
 */
export function proposeRoot(dataDir: string): Buffer {
  const path = proposalPath(dataDir);
  // Two first starts at the same time end with one key.
  if (proposedRoot(dataDir) === undefined) place(randomBytes(32), dataDir, path);
  const root = proposedRoot(dataDir);
  if (root === undefined) throw new AppError('internal', `the key file ${path} could not be created`);
  return root;
}

export function proposedRoot(dataDir: string): Buffer | undefined {
  return readKey(proposalPath(dataDir));
}

/** The database knows the proposed key now, so it becomes the key file. */
export function acceptProposal(root: Buffer, dataDir: string): void {
  place(root, dataDir, keyPath(dataDir));
  const kept = readKey(keyPath(dataDir));
  if (!kept?.equals(root))
    throw new AppError('internal', `${keyPath(dataDir)} was created by another process meanwhile`);
  rmSync(proposalPath(dataDir), { force: true });
}

function proposalPath(dataDir: string): string {
  return `${keyPath(dataDir)}.new`;
}

/**
 * Writes a draft and links it into place: a key file is never incomplete and never replaces another. Returns whether it
 * was placed. It is on the disk, name included, before anything is sealed with it.
 */
function place(root: Buffer, dataDir: string, path: string): boolean {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${root.toString('base64')}\n`, { mode: 0o600, flush: true });
  try {
    linkSync(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
    syncFolder(dataDir);
  }
  return true;
}

function syncFolder(path: string): void {
  // Windows cannot open folders, and does not need to.
  if (process.platform === 'win32') return;
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
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
