import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { Installers } from '../installers/installers.ts';
import { MARKETPLACE_NAMES, type MarketplaceName } from '../marketplaces.ts';

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
        return [id, `for ${kind}, to be bound by ${expiresAt.toISOString()}`];
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
        return ['all links to its archive are revoked'];
      };
    default:
      throw new AppError('invalid', 'say what to do: atrium installer create|show|link|revoke …, or --help');
  }
}

export function marketplaceNamed(name: string): MarketplaceName {
  const found = MARKETPLACE_NAMES.find((one) => one.toLowerCase() === name.toLowerCase());
  if (!found) throw new AppError('invalid', `${name || 'nothing'} is no marketplace: cloudA, cloudB or cloudC`);
  return found;
}

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new AppError('invalid', `not a number from 1 on: ${text}`);
  return Number(text);
}

export function plainBigInt(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value;
}
