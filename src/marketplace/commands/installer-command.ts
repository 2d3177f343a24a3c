import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { Installers } from '../installers/installers.ts';
import { MARKETPLACE_NAMES, type MarketplaceName, shortNameOf } from '../marketplaces.ts';

type Run = (installers: Installers, now: Date) => Promise<string[]>;

/** Rejects wrong usage immediately. The returned function does the work and returns the lines to print. */
export function readInstallerCommand(args: readonly string[]): Run {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { days: { type: 'string' }, test: { type: 'boolean' } },
  });
  const [verb, what = ''] = positionals;
  switch (verb) {
    case 'create': {
      const days = values.days === undefined ? undefined : wholeNumber(values.days);
      const wanted = { marketplace: marketplaceNamed(what), isTest: values.test ?? false, ...(days && { days }) };
      return async (installers, now) => {
        const { id, expiresAt } = await installers.create(wanted, now);
        const kind = `${wanted.marketplace}${wanted.isTest ? ', for tests' : ''}`;
        return [id, `for ${kind}, can be bound until ${expiresAt.toISOString()}`];
      };
    }
    case 'show':
      return async (installers) => {
        const { binding, ...installer } = await installers.show(what);
        return [JSON.stringify({ ...installer, binding }, plainBigInt, 2)];
      };
    case 'link':
      return async (installers, now) => [await installers.link(what, now)];
    case 'revoke':
      return async (installers) => {
        await installers.revokeLinks(what);
        return ['revoked all links to its archive'];
      };
    default: {
      const problem = verb === undefined ? 'missing subcommand' : `unknown subcommand "${verb}"`;
      throw new AppError('invalid', `${problem}; use one of create, show, link, revoke, or --help`);
    }
  }
}

export function marketplaceNamed(name: string): MarketplaceName {
  const found = MARKETPLACE_NAMES.find((one) => one.toLowerCase() === name.toLowerCase());
  if (!found) {
    const known = MARKETPLACE_NAMES.map(shortNameOf).join(', ');
    const problem = name === '' ? 'missing marketplace' : `unknown marketplace "${name}"`;
    throw new AppError('invalid', `${problem}; use one of ${known}`);
  }
  return found;
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new AppError('invalid', `expected a whole number from 1, got "${text}"`);
  return Number(text);
}

export function plainBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
