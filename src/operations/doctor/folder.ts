import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { keyPath } from '../../base/keys.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

const MIB = 2 ** 20;
const LITTLE = 1024 * MIB;
const TOO_LITTLE = 100 * MIB;

/** The data folder: whether this user can write to it, who else can read it, and how much space is left. */
export async function examineFolder(dataDir: string): Promise<Finding[]> {
  const check = 'data folder';
  const folder = resolve(dataDir);
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (stats === undefined)
    return [
      ok(check, `${folder} does not exist yet; the first start creates it`),
      ...(await examineRoom(dirname(folder))),
    ];
  if (!stats.isDirectory())
    return [fault(check, `${folder} is not a folder`, 'Move it away, or set DATA_DIR to another folder.')];
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return [
      fault(
        check,
        `this user cannot write to ${folder}`,
        'Run as the user of the server, or change the owner of the folder with chown.',
      ),
    ];
  }
  return [rights(check, folder, stats), ...(await examineRoom(folder))];
}

function rights(check: string, folder: string, stats: Stats): Finding {
  if (process.platform === 'win32' || (stats.mode & 0o077) === 0) return ok(check, `only its owner can open ${folder}`);
  return warning(check, `other users can open ${folder} (mode ${mode(stats)})`, `Run: chmod 700 ${folder}`);
}

async function examineRoom(folder: string): Promise<Finding[]> {
  const { bavail, bsize } = await statfs(folder).catch(() => ({ bavail: 0, bsize: 0 }));
  if (bsize === 0) return [];
  const room = bavail * bsize;
  const text = `${Math.floor(room / MIB)} MiB free in ${folder}`;
  if (room < TOO_LITTLE) return [fault('disk', text, 'Free up space: a full disk stops every write.')];
  if (room < LITTLE) return [warning('disk', text, 'Free up space before the disk is full.')];
  return [ok('disk', text)];
}

/** The key file, if the root key is in one. */
export function examineKeyFile(dataDir: string, isConfigured: boolean): Finding[] {
  const path = resolve(keyPath(dataDir));
  const stats = statSync(path, { throwIfNoEntry: false });
  if (isConfigured) return [ok('key file', 'the root key comes from ATRIUM_KEY')];
  if (stats === undefined)
    return [ok('key file', `${path} does not exist; the first start of a deployment creates it`)];
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    return [fault('key file', `other users can read ${path} (mode ${mode(stats)})`, `Run: chmod 600 ${path}`)];
  }
  return [ok('key file', `only its owner can read ${path}`)];
}

function mode({ mode: bits }: Stats): string {
  return (bits & 0o777).toString(8).padStart(4, '0');
}
