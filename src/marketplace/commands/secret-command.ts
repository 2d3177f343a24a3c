import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import { MARKETPLACE_NAMES, profileOf, shortNameOf, titleOf } from '../marketplaces.ts';
import { newSecret } from '../notifications/secret-text.ts';
import type { Secrets } from '../notifications/secrets.ts';

/** Where the secret of a command comes from; undefined if the command needs none. */
export type SecretSource = 'stdin' | 'prompt' | { readonly file: string } | undefined;

type Run = (parts: { readonly secrets: Pick<Secrets, 'add' | 'retire'> }) => Promise<string[]>;

const USAGE = 'atrium marketplace secret add|retire MARKETPLACE [--secret-stdin | --secret-file FILE]';

/** Whether these are the arguments of `atrium marketplace secret`, whatever is wrong with the other arguments. */
export function isSecretCommand(args: readonly string[]): boolean {
  return args.find((word) => !word.startsWith('-')) === 'secret';
}

/** `secret` was read by the process that the operator started: an argument could be seen by other users. */
export function readSecretCommand(args: readonly string[], secret: string | undefined): Run {
  const { verb, marketplace, source } = parse(args);
  if (verb === 'retire' && secret === undefined) throw misuse(`the secret is missing; usage: ${USAGE}`);
  if (source !== undefined && secret === '') throw misuse('the secret is empty');
  if (verb === 'add') {
    return async ({ secrets }) => {
      const added = secret ?? newSecret();
      await secrets.add(marketplace, added);
      const said = `active on every replica within seconds, in addition to the other secrets of ${marketplace}`;
      return secret === undefined ? [added, said] : [said];
    };
  }
  return async ({ secrets }) => {
    if (!(await secrets.retire(marketplace, secret ?? ''))) {
      throw new AppError('notFound', 'no such secret was added here; a secret from the settings is retired there');
    }
    return ['retired the secret'];
  };
}

/** Rejects wrong usage before anything is read. */
export function secretSource(args: readonly string[]): SecretSource {
  return parse(args).source;
}

/** No message repeats a word that was typed: it may be the secret, in whichever place. */
function parse(args: readonly string[]) {
  const { values, positionals } = parseWords(args);
  const [, verb, name = '', ...rest] = positionals;
  if (rest.length > 0) {
    throw misuse(`a secret is not an argument, because other users can see it and the shell keeps it; usage: ${USAGE}`);
  }
  if (verb !== 'add' && verb !== 'retire') throw misuse(`usage: ${USAGE}`);
  const marketplace = MARKETPLACE_NAMES.find((one) => one.toLowerCase() === name.toLowerCase());
  if (!marketplace) {
    const known = MARKETPLACE_NAMES.map(shortNameOf).join(', ');
    throw misuse(`${name === '' ? 'missing' : 'unknown'} marketplace; use one of ${known}; usage: ${USAGE}`);
  }
  if (profileOf(marketplace).provenBy !== 'secret') throw misuse(`${titleOf(marketplace)} has no secret`);
  const { 'secret-stdin': fromStdin, 'secret-file': file } = values;
  if (fromStdin && file !== undefined) throw misuse('use --secret-stdin or --secret-file, not both');
  // `add` without a secret creates one.
  const unsaid = verb === 'retire' ? 'prompt' : undefined;
  const source: SecretSource = fromStdin ? 'stdin' : file === undefined ? unsaid : { file };
  return { verb, marketplace, source };
}

function parseWords(args: readonly string[]) {
  try {
    const options = { 'secret-stdin': { type: 'boolean' }, 'secret-file': { type: 'string' } } as const;
    return parseArgs({ args: [...args], allowPositionals: true, options });
  } catch {
    throw misuse(`unknown or incomplete option; usage: ${USAGE}`);
  }
}

function misuse(message: string): AppError {
  return new AppError('invalid', message);
}
