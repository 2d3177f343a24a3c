import type { Moment } from '../changes/revision.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { SecondFactorStore } from './second-factor.ts';

const REQUIRING = sql(
  'secondFactor.requiring',
  `select r.value as revision, r.stamp, array(select a.id from account a where a.requires_second_factor) as ids
     from revision r where r.id = 1`,
);

export function createSecondFactorStore(db: Db): SecondFactorStore {
  return {
    async requiring() {
      const { ids, revision, stamp } = only(await db.query<Moment & { ids: bigint[] }>(REQUIRING));
      return { revision, stamp, value: new Set(ids) };
    },
  };
}
