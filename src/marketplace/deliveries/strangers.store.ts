import type { Query } from '../../db/db.ts';
import { createFilters } from '../../db/filters.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { RejectionReason } from '../notifications/rejection.ts';
import type { StrangerStore } from './strangers.ts';

interface Row {
  marketplace: MarketplaceName;
  reason: RejectionReason;
  source: string;
  day: string;
  times: number;
  last_at: Date;
}

export function createStrangerStore(query: Query): StrangerStore {
  return {
    async list({ marketplace, after, limit }) {
      const filters = createFilters(limit);
      filters.add('marketplace', marketplace, (one) => `marketplace = ${one}`);
      filters.add('after', after?.day, (day) => {
        const rest = [after?.marketplace, after?.reason, after?.source].map(filters.place).join(', ');
        return `(day, marketplace, reason, source) < (${day}::date, ${rest})`;
      });
      const statement = filters.statement(
        'strangers.list',
        (where) => `select marketplace, reason, source, day::text as day, times::integer as times, last_at
                      from delivery_refusal ${where}
                     order by delivery_refusal.day desc, marketplace desc, reason desc, source desc limit $1`,
      );
      const rows = await query<Row>(statement, filters.values);
      return rows.map(({ last_at: lastAt, ...row }) => ({ ...row, lastAt }));
    },
  };
}
