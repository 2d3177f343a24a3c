import { parseArgs } from 'node:util';
import { AppError } from '../../base/errors.ts';
import type { DeliveryLog, JournalEntry } from '../deliveries/delivery-log.ts';
import { profileOf, titleOf } from '../marketplaces.ts';
import { newSecret } from '../notifications/secret-text.ts';
import type { Secrets } from '../notifications/secrets.ts';
import { marketplaceNamed, plainBigInt, wholeNumber } from './installer-command.ts';

interface Parts {
  readonly journal: Pick<DeliveryLog, 'list' | 'refusals'>;
  readonly secrets: Pick<Secrets, 'add' | 'retire'>;
}

const DEFAULT_LIMIT = '50';

/** What an operator asks of the listener; answers the lines to print. */
export async function runMarketplace(parts: Parts, args: string[]): Promise<string[]> {
  const { values, positionals } = parseArgs({
    args,
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
  const [verb, ...rest] = positionals;
  if (verb === 'log' && values.strangers) {
    const counts = await parts.journal.refusals(wholeNumber(values.limit));
    return counts.map((one) =>
      [one.lastAt.toISOString(), one.marketplace, one.reason, `${one.times}×`, one.source].join('  '),
    );
  }
  if (verb === 'log') {
    const { marketplace, state, reason, search: text } = values;
    const name = marketplace === undefined ? undefined : marketplaceNamed(marketplace);
    const limit = wholeNumber(values.limit);
    const entries = await parts.journal.list({ marketplace: name, state, reason, text, limit });
    return values.json ? entries.map((entry) => JSON.stringify(entry, plainBigInt)) : entries.map(line);
  }
  if (verb === 'secret') return await runSecret(parts.secrets, rest);
  throw new AppError('invalid', 'say what to do: atrium marketplace log|secret …, or --help');
}

async function runSecret(secrets: Parts['secrets'], [verb, name = '', given]: readonly string[]): Promise<string[]> {
  const marketplace = marketplaceNamed(name);
  if (profileOf(marketplace).provenBy !== 'secret') {
    throw new AppError('invalid', `${titleOf(marketplace)} has no secret`);
  }
  if (verb === 'add') {
    const secret = given ?? newSecret();
    await secrets.add(marketplace, secret);
    return [secret, `live on every replica within seconds, beside the others of ${marketplace}`];
  }
  if (verb !== 'retire' || given === undefined)
    throw new AppError('invalid', 'secret add|retire cloudB|cloudC [SECRET]');
  if (!(await secrets.retire(marketplace, given))) {
    throw new AppError('notFound', 'no such secret was added here; those of the settings are changed there');
  }
  return ['retired'];
}

function line(entry: JournalEntry): string {
  const outcome = [entry.state, entry.reason, entry.status].filter(Boolean).join(' ');
  const event = [entry.eventType || '-', entry.eventTime || '-'].join(' ');
  const often = entry.times > 1 ? `  ${entry.times}×` : '';
  const why = entry.message ? `  ${JSON.stringify(entry.message)}` : '';
  return `${entry.id}  ${entry.lastAt.toISOString()}  ${outcome}  ${event}  ${entry.subject || entry.marketplace}${often}${why}`;
}
