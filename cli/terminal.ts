import { readFileSync } from 'node:fs';
import { misuse, rejected } from './failure.ts';
import type { Session } from './session.ts';

const INTERRUPT = '\u0003';
const END = '\u0004';
const MAX_INPUT = 4 * 1024 * 1024;

/** Asks before anything is lost. If there is no terminal, --yes is required. */
export async function confirm(session: Session, question: string): Promise<void> {
  if (session.assumeYes) return;
  if (!session.screen.isInteractive) throw misuse(addYes(question));
  const answer = await ask(`${question} Type yes to confirm: `);
  if (!/^y(es)?$/i.test(answer.trim())) throw rejected('nothing was changed');
}

/** `Remove the cluster prod?` as what to type for it. */
function addYes(question: string): string {
  const [, first = '', rest = '', more = ''] = /^(\p{L})(.*)\?( [^?]*)?$/su.exec(question) ?? [];
  return first === ''
    ? `${question} Add --yes to confirm`
    : `add --yes to ${first.toLowerCase()}${rest}${more && `.${more}`}`;
}

export async function ask(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const dialogue = createInterface({ input: process.stdin, output: process.stderr });
  return await new Promise((resolve, reject) => {
    dialogue.once('close', () => reject(rejected('nothing was entered')));
    dialogue.once('SIGINT', () => process.exit(130));
    void dialogue.question(question).then((answer) => {
      resolve(answer);
      dialogue.close();
    });
  });
}

/** The input is not echoed and does not get into any history. */
export async function askSecret(question: string): Promise<string> {
  const { stdin, stderr } = process;
  // Turn echo off before the prompt appears; otherwise a fast typist would see the first characters.
  stdin.setRawMode(true);
  stderr.write(question);
  try {
    return await new Promise((resolve, reject) => {
      let typed = '';
      stdin.setEncoding('utf8').on('data', function hear(chunk: string) {
        for (const letter of chunk) {
          if (letter === INTERRUPT) process.exit(130);
          if (letter === '\r' || letter === '\n' || letter === END) {
            stdin.off('data', hear).pause();
            return letter === END && typed === '' ? reject(rejected('nothing was entered')) : resolve(typed);
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

/** Reads a file, or standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  if (file === '-' && process.stdin.isTTY) throw misuse('- reads standard input, but nothing is piped in');
  try {
    const text = file === '-' ? await pipedIn() : readFileSync(file, 'utf8');
    if (text.length > MAX_INPUT) throw misuse(`${file} is too large`);
    return text;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw misuse(`cannot read ${file}: ${code === 'ENOENT' ? 'no such file' : code}`);
  }
}

/** Asynchronous, because a pipe whose writer is not done yet cannot always be read synchronously. */
async function pipedIn(): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    // `readInput` rejects anything longer.
    if (length > MAX_INPUT * 3) break;
  }
  return Buffer.concat(chunks).toString();
}

/** Shows on a terminal that long work is in progress. Elsewhere it prints nothing. */
export function progress(isShown: boolean) {
  const from = performance.now();
  let last = 0;
  return { tell, done };

  function tell(text: string): void {
    const now = performance.now();
    if (!isShown || now - from < 400 || now - last < 100) return;
    last = now;
    process.stderr.write(`\r\u001b[K${text}`);
  }

  function done(): void {
    if (last > 0) process.stderr.write('\r\u001b[K');
  }
}
