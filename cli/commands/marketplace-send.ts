import { command } from '../command.ts';
import { EXIT, misuse } from '../failure.ts';
import { quickFetch } from '../http.ts';
import { MARKETPLACES } from '../marketplaces.gen.ts';
import type { Shown } from '../output.ts';
import { checkedUrl, type Session } from '../session.ts';
import { readInput } from '../terminal.ts';
import { plain } from '../text.ts';

const USUAL_URL = 'http://127.0.0.1:3000';
const MAX_TIMES = 100_000;

interface Sent {
  readonly file: string;
  readonly status: number;
  readonly ms: number;
  readonly answer: string;
}

export const send = command({
  summary: 'send payload files to a marketplace listener',
  details:
    'Sends the files in the given order. If a file contains a list, its items are sent one by one. ' +
    'Keep the secret in a file or in the environment, because other users can see the command line.',
  args: {
    marketplace: { about: 'the marketplace', choices: MARKETPLACES },
    file: { about: 'payload files', many: true, kind: 'file' },
  },
  options: {
    url: { about: `address of the listener; by default the current server or ${USUAL_URL}`, value: 'URL' },
    'secret-file': { about: 'file with the secret; by default ATRIUM_MARKETPLACE_SECRET', value: 'FILE', kind: 'file' },
    installer: { about: 'installer to use instead of the one in the payload', value: 'ID' },
    times: { about: 'how many times to send each payload; 1 by default', value: 'N' },
    together: { about: 'send all payloads at the same time' },
  },
  examples: [
    'atrium marketplace send cloudA bind.json --installer ID',
    'atrium marketplace send cloudB put.json bind.json --secret-file secret.txt --times 2 --together',
  ],
  async run(session, { args, options }): Promise<Shown> {
    const times = Number(options.times ?? 1);
    if (!(Number.isInteger(times) && times > 0 && times <= MAX_TIMES))
      throw misuse(`--times must be a whole number from 1 to ${MAX_TIMES}, got ${JSON.stringify(options.times)}`);
    const secret = options['secret-file']
      ? (await readInput(options['secret-file'])).trim()
      : session.env.ATRIUM_MARKETPLACE_SECRET;
    const query = secret === undefined ? '' : `?secret=${encodeURIComponent(secret)}`;
    const url = `${listener(session, options.url)}/marketplace/api/v1/marketplaces/${args.marketplace}/notification/resource${query}`;
    const files: { file: string; bodies: string[] }[] = [];
    for (const file of args.file) files.push({ file, bodies: await bodiesIn(file, options.installer) });
    const sendings = files.flatMap(({ file, bodies }) =>
      bodies.flatMap((body) => Array.from({ length: times }, () => () => sendOne(url, file, body))),
    );
    const results: Sent[] = [];
    if (options.together) results.push(...(await Promise.all(sendings.map((one) => one()))));
    else for (const one of sendings) results.push(await one());
    return {
      data: results,
      exit: results.every(({ status }) => status >= 200 && status < 300) ? 0 : unanswered(results),
      lay: () => results.map(line),
    };
  },
});

function listener(session: Session, given: string | undefined): string {
  return checkedUrl(given ?? session.env.ATRIUM_URL ?? session.context()?.context.url ?? USUAL_URL);
}

function unanswered(results: readonly Sent[]): number {
  return results.every(({ status }) => status === 0) ? EXIT.unreachable : EXIT.rejected;
}

function line({ status, ms, file, answer }: Sent): string {
  return plain(status === 0 ? `---  ${file}  ${answer}` : `${status}  ${ms} ms  ${file}  ${answer}`);
}

async function bodiesIn(file: string, installer: string | undefined): Promise<string[]> {
  const value = parse(await readInput(file), file);
  return (Array.isArray(value) ? value : [value]).map((one: unknown) => {
    if (installer === undefined || !isObject(one) || !isObject(one.bindingInfo)) return JSON.stringify(one);
    return JSON.stringify({ ...one, bindingInfo: { ...one.bindingInfo, installerId: installer } });
  });
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw misuse(`${file} is not valid JSON: ${(error as Error).message}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

async function sendOne(url: string, file: string, body: string): Promise<Sent> {
  const started = performance.now();
  const signal = AbortSignal.timeout(60_000);
  const headers = { 'Content-Type': 'application/json' };
  try {
    const reply = await quickFetch(url, { method: 'POST', headers, body, redirect: 'error', signal });
    return { file, status: reply.status, answer: await reply.text(), ms: Math.round(performance.now() - started) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return { file, status: 0, answer: code ?? message, ms: Math.round(performance.now() - started) };
  }
}
