import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { constants, gzipSync } from 'node:zlib';
import { archiveFiles, type BoundInstaller } from './archive-files.ts';
import type { Signer } from './signing.ts';

const EXECUTABLE = new Set(['install.sh']);
const LEVEL = 9;
/**
 * The byte of the gzip header for the operating system. It is fixed; otherwise two machines would create different
 * archives.
 */
const OS_BYTE = 9;
const UNKNOWN_OS = 255;

/**
 * Creates archives. The same binding gives the same bytes: files in order, no timestamps, no owners, one fixed gzip
 * header.
 */
export function createArchiver(signer: Signer) {
  const installScript = readFileSync(new URL('./install.sh', import.meta.url), 'utf8');

  return async function archive(installer: BoundInstaller): Promise<Buffer> {
    const files = new Map<string, string | Buffer>(archiveFiles(installer, signer, installScript));
    const sums = Buffer.from([...files].map(([name, content]) => `${sha256(content)}  ${name}\n`).join(''));
    files.set('SHA256SUMS', sums).set('SHA256SUMS.sig', signer.sign(sums));
    return compress(await tar(files));
  };
}

async function tar(files: ReadonlyMap<string, string | Buffer>): Promise<Buffer> {
  const { pack } = await import('tar-stream');
  const stream = pack();
  for (const [name, content] of files) {
    const mode = EXECUTABLE.has(name) ? 0o755 : 0o644;
    stream.entry({ name, mode, mtime: new Date(0), uid: 0, gid: 0, uname: '', gname: '' }, content);
  }
  stream.finalize();
  return await buffer(stream);
}

function compress(data: Buffer): Buffer {
  const zipped = gzipSync(data, { level: LEVEL, strategy: constants.Z_DEFAULT_STRATEGY });
  zipped[OS_BYTE] = UNKNOWN_OS;
  return zipped;
}

export function sha256(content: string | Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}
