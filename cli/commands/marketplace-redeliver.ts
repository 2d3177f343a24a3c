import type { Answer, Client } from '../../client/client.ts';
import { command } from '../command.ts';
import { forEach } from '../each.ts';
import { misuse } from '../failure.ts';
import { momentIn } from '../moments.ts';
import { readId } from '../names.ts';
import { said } from '../output.ts';
import { progress } from '../terminal.ts';
import { fullNameOf, onlyOf } from './marketplace-lists.ts';

type Retried = Answer<'POST /admin/marketplace/deliveries/redeliver'>['deliveries'][number];

/** Which deliveries a command is about. */
export const deliveryFilters = {
  marketplace: onlyOf,
  outcome: { about: 'only received, done, refused or dead, or a reason such as already_bound', value: 'WORD' },
  search: { about: 'only deliveries whose subject contains this text', value: 'TEXT' },
  subject: { about: 'only deliveries with exactly this subject', value: 'SUBJECT' },
  since: { about: 'only deliveries that arrived since then, such as 7d or 2026-01-31', value: 'WHEN' },
  until: { about: 'only deliveries that arrived before then', value: 'WHEN' },
} as const;

interface Filters {
  readonly marketplace?: (typeof onlyOf.choices)[number] | undefined;
  readonly outcome?: string | undefined;
  readonly search?: string | undefined;
  readonly subject?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

export function filterOf({ marketplace, outcome, search, subject, since, until }: Filters) {
  return {
    marketplace: fullNameOf(marketplace),
    outcome,
    search,
    subject,
    since: since === undefined ? undefined : momentIn(since, -1),
    until: until === undefined ? undefined : momentIn(until, -1),
  };
}

export const redeliver = command({
  summary: 'retry unfinished deliveries, by their IDs or all that match',
  args: { id: { about: 'ID of the delivery', many: true, optional: true } },
  options: { dead: { about: 'retry all dead deliveries, as --outcome dead does' }, ...deliveryFilters },
  examples: [
    'atrium marketplace redeliver 17 18',
    'atrium marketplace redeliver --dead',
    'atrium marketplace redeliver --outcome installer_unknown --since 7d',
  ],
  async run(session, { args, options: { dead, ...options } }) {
    const filter = filterOf(dead ? { ...options, outcome: 'dead' } : options);
    const isFiltered = Object.values(filter).some((value) => value !== undefined);
    if (isFiltered === args.id.length > 0) {
      throw misuse('use either the IDs of deliveries, or --dead or another filter');
    }
    if (dead && options.outcome !== undefined) throw misuse('use either --dead or --outcome');
    const client = session.client();
    const retried = isFiltered ? await retryMatching(client, filter) : await retryEach(client, args.id.map(readId));
    const states = retried.map(({ id, state, reason }) => `${id}: ${[state, reason].filter(Boolean).join(', ')}`);
    return said(states.length === 0 ? 'nothing to retry' : states.join('; '));
  },
});

async function retryEach(client: Client, ids: readonly bigint[]): Promise<Retried[]> {
  const bar = progress(Boolean(process.stderr.isTTY));
  const retried: Retried[] = [];
  await forEach(ids, String, async (id) => {
    retried.push(await client.call('POST /admin/marketplace/deliveries/{id}/redeliver', { path: { id } }));
    bar.tell(`${retried.length} of ${ids.length} retried…`);
  });
  bar.done();
  return retried;
}

/** The server retries as many in one request as it can answer in time. Each is retried once. */
async function retryMatching(client: Client, filter: ReturnType<typeof filterOf>): Promise<Retried[]> {
  const bar = progress(Boolean(process.stderr.isTTY));
  const retried: Retried[] = [];
  for (;;) {
    const body = { ...filter, after: retried.at(-1)?.id };
    const { deliveries, left } = await client.call('POST /admin/marketplace/deliveries/redeliver', { body });
    retried.push(...deliveries);
    bar.tell(`${retried.length} of ${retried.length + left} retried…`);
    if (left === 0 || deliveries.length === 0) break;
  }
  bar.done();
  return retried;
}
