import {
  copyFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Disk, realDisk } from '../../../src/db/pglite/pglite-files.ts';

/**
 * A disk that forgets: it records the content of each file, and the names in each folder, as of their last sync. A
 * power cut may lose everything else. Files are identified by their inode, so a renamed file is the same file.
 */
export interface ForgetfulDisk extends Disk {
  /** Treats everything that is in the folder now as synced. */
  trust(root: string): void;
  /** From now on syncs are acknowledged but not done, as on a disk that lies. */
  lie(): void;
  /**
   * Writes what survives a power cut at this moment. By luck, a file may have reached the disk without a sync, so a
   * database must also recover from any mixture.
   */
  image(root: string, target: string, lucky?: () => boolean): void;
}

export function createForgetfulDisk(): ForgetfulDisk {
  const contents = new Map<bigint, Buffer>();
  const listings = new Map<bigint, Map<string, bigint>>();
  let lies = false;

  function restore(folder: bigint, target: string, source: string, lucky: () => boolean): void {
    mkdirSync(target, { mode: 0o700 });
    for (const [name, inode] of listings.get(folder) ?? []) {
      const path = join(target, name);
      const today = join(source, name);
      if (listings.has(inode)) restore(inode, path, today, lucky);
      else if (lucky() && existsSync(today)) copyFileSync(today, path);
      // A name without synced content is an empty file.
      else writeFileSync(path, contents.get(inode) ?? '');
    }
  }

  function trust(folder: string): void {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) trust(path);
      else contents.set(statSync(path, { bigint: true }).ino, readFileSync(path));
    }
    listings.set(statSync(folder, { bigint: true }).ino, listingOf(folder));
  }

  return {
    trust,
    sync(fd, path, isDirectory) {
      if (lies) return;
      realDisk.sync(fd, path, isDirectory);
      const { ino } = fstatSync(fd, { bigint: true });
      if (isDirectory) listings.set(ino, listingOf(path));
      else contents.set(ino, readFileSync(path));
    },
    lie() {
      lies = true;
    },
    image: (root, target, lucky = () => false) => restore(statSync(root, { bigint: true }).ino, target, root, lucky),
  };
}

function listingOf(path: string): Map<string, bigint> {
  return new Map(readdirSync(path).map((name) => [name, statSync(join(path, name), { bigint: true }).ino]));
}
