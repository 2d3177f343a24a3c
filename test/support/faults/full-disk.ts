import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into a server with `--import`, so that its disk can be full. The file that FULL_DISK names says where: `tables`
 * cannot grow, or the `log` cannot be written. While there is no such file, there is room.
 */
const sign = process.env.FULL_DISK ?? '';
const paths = new Map<number, string>();
const { openSync, writeSync } = fs;

fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  paths.set(fd, String(path));
  return fd;
};
fs.writeSync = ((fd: number, buffer: Uint8Array, offset: number, length: number, position: number) => {
  if (isFull(fd, position))
    throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
  return writeSync(fd, buffer, offset, length, position);
}) as typeof writeSync;
syncBuiltinESMExports();

function isFull(fd: number, position: number): boolean {
  const path = paths.get(fd) ?? '';
  if (!/[/\\](base|pg_wal)[/\\]/.test(path) || !fs.existsSync(sign)) return false;
  const isLog = path.includes('pg_wal');
  // Segments of the log have their full size from the beginning.
  return fs.readFileSync(sign, 'utf8') === 'log' ? isLog : !isLog && position >= fs.fstatSync(fd).size;
}
