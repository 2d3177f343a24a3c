import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { MANIFEST, partName, type TableSummary } from './format.ts';

export interface ArchiveWriter {
  /** Adds a small file as a whole. */
  add(name: string, text: string): Promise<void>;
  /** Adds all rows of a table; returns a summary of what was written. */
  table(name: string, columns: readonly string[], batches: AsyncIterable<readonly string[]>): Promise<TableSummary>;
}

/** A table is split into files of about this size, because tar stores the length of a file before its content. */
const PART_BYTES = 1024 * 1024;
/** Takes half the time of the default 6, for a tenth more bytes. */
const LEVEL = 3;

/**
 * Writes to a draft next to the file and renames it at the end, readable by its owner only. Whatever happens before
 * that, no partial backup is left behind, and an earlier backup stays as it was.
 */
export async function writeArchive(path: string, fill: (archive: ArchiveWriter) => Promise<string>): Promise<void> {
  const draft = `${path}.${process.pid}.part`;
  const tar = pack();
  const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 });
  // Awaited below. A full disk must also end `fill`, which waits for the tar to be read.
  const written = pipeline(tar, createGzip({ level: LEVEL }), file);
  const failed = new AbortController();
  written.catch((error) => failed.abort(error));
  try {
    const manifest = await fill({ add, table });
    await add(MANIFEST, manifest);
    tar.finalize();
    await written;
    await sync(draft);
    await rename(draft, path);
    await sync(dirname(path));
  } catch (error) {
    tar.destroy();
    await written.catch(() => undefined);
    await rm(draft, { force: true });
    throw failed.signal.aborted ? failed.signal.reason : error;
  }

  async function add(name: string, content: string | Buffer): Promise<void> {
    failed.signal.throwIfAborted();
    const bytes = Buffer.from(content);
    const entry = tar.entry({ name, mode: 0o600, size: bytes.length, mtime: new Date(0) });
    entry.end(bytes);
    await once(entry, 'finish', { signal: failed.signal });
  }

  async function table(name: string, columns: readonly string[], batches: AsyncIterable<readonly string[]>) {
    const hash = createHash('sha256');
    let [rows, bytes, parts, size] = [0, 0, 0, 0];
    let waiting: Buffer[] = [];
    const flush = async () => {
      if (size > 0) await add(partName(name, ++parts), Buffer.concat(waiting));
      waiting = [];
      size = 0;
    };
    for await (const lines of batches) {
      const text = Buffer.from(`${lines.join('\n')}\n`);
      hash.update(text);
      rows += lines.length;
      bytes += text.length;
      size += text.length;
      waiting.push(text);
      if (size >= PART_BYTES) await flush();
    }
    await flush();
    return { name, columns, rows, bytes, sha256: hash.digest('hex') };
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
