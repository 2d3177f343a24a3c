import { readFileSync } from 'node:fs';
import { AppError } from '../../base/errors.ts';
import type { SecretSource } from '../../marketplace/commands/secret-command.ts';
import { callerPath } from './terminal.ts';

const INTERRUPT = '\u0003';
const END = '\u0004';
const MAX_LENGTH = 4096;

/** Reads the secret of a command, in the process that the operator started. */
export async function readSecret(source: SecretSource): Promise<string | undefined> {
  if (source === undefined) return undefined;
  if (source === 'prompt' && process.stdin.isTTY) return await askSecret();
  if (source === 'prompt') {
    throw new AppError('invalid', 'this is not a terminal; add --secret-stdin or --secret-file FILE');
  }
  const text = source === 'stdin' || source.file === '-' ? await pipedIn() : inFile(source.file);
  if (text.length > MAX_LENGTH) throw new AppError('invalid', `the secret is longer than ${MAX_LENGTH} characters`);
  return (text.split(/\r?\n/, 1)[0] ?? '').trim();
}

function inFile(file: string): string {
  try {
    return readFileSync(callerPath(file), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new AppError('invalid', `cannot read the file with the secret: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
}

async function pipedIn(): Promise<string> {
  if (process.stdin.isTTY) throw new AppError('invalid', 'nothing is piped in on standard input');
  let text = '';
  for await (const chunk of process.stdin.setEncoding('utf8')) {
    text += chunk;
    if (text.length > MAX_LENGTH) break;
  }
  return text;
}

/** The input is not echoed. */
async function askSecret(): Promise<string> {
  const { stdin, stderr } = process;
  // Echo is turned off before the prompt appears; otherwise a fast typist would see the first characters.
  stdin.setRawMode(true);
  stderr.write('Secret: ');
  try {
    return await new Promise((resolve) => {
      let typed = '';
      stdin.setEncoding('utf8').on('data', function hear(chunk: string) {
        for (const letter of chunk) {
          if (letter === INTERRUPT) process.exit(130);
          if (letter === '\r' || letter === '\n' || letter === END) {
            stdin.off('data', hear).pause();
            resolve(typed.trim());
            return;
          }
          typed = letter === '\u007f' || letter === '\b' ? typed.slice(0, -1) : typed + letter;
        }
      });
      stdin.resume();
    });
  } finally {
    stdin.setRawMode(false);
    stderr.write('\n');
  }
}
