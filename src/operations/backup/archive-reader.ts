import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { AppError } from '../../base/errors.ts';

export interface Entry {
  readonly name: string;
  readonly content: Buffer;
}

/** Larger than any row that this server stores; a damaged length must not fill the memory. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Every backup begins with two magic bytes, deflate, no flags, no time. What follows has its own checksum. */
const BEGINNING = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);

/** Yields the files in a backup one by one, each as a whole. */
export async function* readArchive(path: string): AsyncGenerator<Entry> {
  const tar = extract();
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  file.once('data', (chunk) => {
    if (!BEGINNING.equals(Buffer.from(chunk).subarray(0, BEGINNING.length))) file.destroy(new Error('not a gzip file'));
  });
  // Awaited at the end: the checksum of the whole file comes after the last entry.
  const unpacked = pipeline(file, createGunzip(), tar);
  unpacked.catch(() => undefined);
  try {
    for await (const entry of tar) {
      if ((entry.header.size ?? 0) > MAX_BYTES) throw new Error('an entry is too large');
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      yield { name: entry.header.name, content: Buffer.concat(chunks) };
    }
    await unpacked;
  } catch (error) {
    throw asRejection(error, path);
  } finally {
    file.destroy();
  }
}

/**
 * Our own errors pass unchanged, and errors of the file system are reported. Anything else is an unpacking error of a
 * damaged file.
 */
function asRejection(error: unknown, path: string): unknown {
  if (error instanceof AppError) return error;
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (syscall !== undefined) return new AppError('notFound', `${path} cannot be read: ${code}`, { cause: error });
  return damaged(path, message, error);
}

export function damaged(path: string, why: string, cause?: unknown): AppError {
  const message = `${path} is not a complete backup (${why}), so nothing was changed; use another copy of it`;
  return new AppError('conflict', message, { cause });
}
