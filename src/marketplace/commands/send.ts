import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { AppError } from '../../errors.ts';
import { isObject } from '../exact-json.ts';
import { marketplaceNamed, wholeNumber } from './installer.ts';

/**
 * Plays payload files against a listener in the order given, each as often as wished. A file that holds a list is sent
 * item by item; `--installer` puts a real installer in place of the sample's.
 */
export async function runSend(args: string[], say: (line: string) => void): Promise<boolean> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      url: { type: 'string', default: 'http://127.0.0.1:3000' },
      secret: { type: 'string' },
      installer: { type: 'string' },
      times: { type: 'string', default: '1' },
      together: { type: 'boolean' },
    },
  });
  const [name = '', ...files] = positionals;
  const marketplace = marketplaceNamed(name).replace('Cloud', 'cloud');
  if (files.length === 0) throw new AppError('invalid', 'name at least one payload file');
  const query = values.secret === undefined ? '' : `?secret=${encodeURIComponent(values.secret)}`;
  const url = `${values.url}/marketplace/api/v1/marketplaces/${marketplace}/notification/resource${query}`;
  const times = wholeNumber(values.times);
  const sendings = files.flatMap((file) =>
    bodiesIn(file, values.installer).flatMap((body) =>
      Array.from({ length: times }, () => () => send(url, file, body)),
    ),
  );
  const results: { readonly line: string; readonly ok: boolean }[] = [];
  if (values.together) results.push(...(await Promise.all(sendings.map((one) => one()))));
  else for (const one of sendings) results.push(await one());
  for (const { line } of results) say(line);
  return results.every(({ ok }) => ok);
}

function bodiesIn(file: string, installer: string | undefined): string[] {
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
  return (Array.isArray(value) ? value : [value]).map((one: unknown) => {
    if (installer === undefined || !isObject(one) || !isObject(one.bindingInfo)) return JSON.stringify(one);
    return JSON.stringify({ ...one, bindingInfo: { ...one.bindingInfo, installerId: installer } });
  });
}

async function send(url: string, file: string, body: string): Promise<{ line: string; ok: boolean }> {
  const started = performance.now();
  try {
    const answer = await fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body });
    const text = await answer.text();
    const ms = Math.round(performance.now() - started);
    return { line: `${answer.status}  ${ms} ms  ${file}  ${text}`, ok: answer.ok };
  } catch (error) {
    const { cause, message } = error as Error & { cause?: { code?: string } };
    return { line: `---  ${file}  ${cause?.code ?? message}`, ok: false };
  }
}
