import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { DeliveryLog, DeliveryLogEntry } from '../deliveries/delivery-log.ts';
import type { Secrets } from '../notifications/secrets.ts';
import { marketplaceNamed, plainBigInt, wholeNumber } from './installer-command.ts';
import { isSecretCommand, readSecretCommand } from './secret-command.ts';

interface MarketplaceCommandOptions {
  readonly deliveryLog: Pick<DeliveryLog, 'list' | 'rejections'>;
  readonly secrets: Pick<Secrets, 'add' | 'retire'>;
}

const DEFAULT_LIMIT = '50';

type Run = (parts: MarketplaceCommandOptions) => Promise<string[]>;

/**
 * Rejects wrong usage immediately. The returned function does the work and returns the lines to print. `secret` is the
 * one that the operator entered, for the subcommand that takes one.
 */
export function readMarketplaceCommand(args: readonly string[], secret?: string): Run {
  if (isSecretCommand(args)) return readSecretCommand(args, secret);
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      marketplace: { type: 'string' },
      state: { type: 'string' },
      reason: { type: 'string' },
      search: { type: 'string' },
      limit: { type: 'string', default: DEFAULT_LIMIT },
      json: { type: 'boolean' },
      strangers: { type: 'boolean' },
    },
  });
  const [verb] = positionals;
  if (verb !== 'log') {
    const problem = verb === undefined ? 'missing subcommand' : `unknown subcommand "${verb}"`;
    throw new AppError('invalid', `${problem}; use one of log, secret, or --help`);
  }
  const limit = wholeNumber(values.limit);
  if (values.strangers) {
    return async ({ deliveryLog }) => {
      const counts = await deliveryLog.rejections(limit);
      return counts.map((one) =>
        [one.lastAt.toISOString(), one.marketplace, one.reason, `${one.times}×`, one.source].join('  '),
      );
    };
  }
  const { state, reason, search: text } = values;
  const marketplace = values.marketplace === undefined ? undefined : marketplaceNamed(values.marketplace);
  return async ({ deliveryLog }) => {
    const entries = await deliveryLog.list({ marketplace, state, reason, text, limit });
    return values.json ? entries.map((entry) => JSON.stringify(entry, plainBigInt)) : entries.map(line);
  };
}

function line(entry: DeliveryLogEntry): string {
  const outcome = [entry.state, entry.reason, entry.status].filter(Boolean).join(' ');
  const event = [entry.eventType || '-', entry.eventTime || '-'].join(' ');
  const often = entry.times > 1 ? `  ${entry.times}×` : '';
  const why = entry.message ? `  ${JSON.stringify(entry.message)}` : '';
  return `${entry.id}  ${entry.lastAt.toISOString()}  ${outcome}  ${event}  ${entry.subject || entry.marketplace}${often}${why}`;
}
