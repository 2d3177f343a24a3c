import { resolve } from 'node:path';
import { AppError } from '../../base/errors.ts';
import type { Progress } from '../backup/backup.ts';

/** The output of a command: what it found on one stream, what it is doing on the other. */
export interface Terminal {
  say(line: string): void;
  complain(line: string): void;
  readonly isTerminal: boolean;
}

const EVERY_MS = 100;

export const terminal: Terminal = {
  say: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
  isTerminal: process.stderr.isTTY ?? false,
};

/** One line that is overwritten again and again; no output if it is not a terminal. */
export function createProgress({ isTerminal }: Terminal, verb: string) {
  let last = 0;
  return {
    show({ table, rows }: Progress): void {
      if (!isTerminal || performance.now() - last < EVERY_MS) return;
      last = performance.now();
      process.stderr.write(`\r\x1b[K${verb} ${rows} rows, now ${table}`);
    },
    end(): void {
      if (isTerminal) process.stderr.write('\r\x1b[K');
    },
  };
}

/** The only file argument of a command. */
export function onlyFile(positionals: readonly string[], usage: string): string {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new AppError('invalid', `name exactly one file: ${usage}`);
  return file;
}

/**
 * A file that the operator named. `npm run` starts programs in the folder of the package, where the settings are, and
 * says in which folder the operator is.
 */
export function callerPath(file: string): string {
  return resolve(process.env.ATRIUM_CALLER_DIR ?? '.', file);
}
