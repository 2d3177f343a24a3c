import { randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { link, open, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { ArchivePlace } from './audit-archive.ts';

/** A file of the server's own machine. An existing one is never overwritten. */
export function filePlace(path: string): ArchivePlace {
  return {
    name: basename(path),

    async write(lines) {
      rejectExisting(path);
      // Only a complete file gets the name.
      const draft = `${path}.${randomBytes(4).toString('hex')}.part`;
      try {
        await writeDraft(draft, lines);
        await link(draft, path).catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'EEXIST' ? exists(path) : unwritable(path, error);
        });
        await syncFolder(dirname(path));
      } finally {
        await rm(draft, { force: true });
      }
    },

    async *read(span) {
      const stream = createReadStream(path, span && { start: span.start, end: span.end - 1 });
      try {
        for await (const part of stream) yield part as Buffer;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT')
          throw new AppError('notFound', `there is no file ${path}`);
        throw error;
      }
    },
  };
}

export function rejectExisting(path: string): void {
  if (existsSync(path)) throw exists(path);
}

async function writeDraft(draft: string, lines: AsyncIterable<string>): Promise<void> {
  const file = await open(draft, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw unwritable(draft, error);
  });
  try {
    for await (const line of lines) await file.appendFile(line);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** So that the name is on the disk, too. */
async function syncFolder(path: string): Promise<void> {
  // Windows cannot open folders, and does not need to.
  if (process.platform === 'win32') return;
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function exists(path: string): AppError {
  return new AppError('conflict', `${path} exists: an archive is never overwritten`);
}

function unwritable(path: string, { code, message }: NodeJS.ErrnoException): AppError {
  if (code === 'ENOENT') return new AppError('notFound', `there is no folder ${dirname(path)}; create it first`);
  return new AppError('conflict', `${path} cannot be written: ${code ?? message}`);
}
