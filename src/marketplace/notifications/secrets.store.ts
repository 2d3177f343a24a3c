import { PLATFORM, type Write } from '../../changes/write.ts';
import { only, type Query, sql } from '../../db/db.ts';
import { ABOUT_MARKETPLACE } from '../installers/operator-actor.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { SecretStore } from './secrets.ts';

const SECRETS = sql('secrets.live', 'select marketplace, hash from marketplace_secret');
const LIST = sql(
  'secrets.list',
  'select marketplace, hash, created_at from marketplace_secret order by marketplace, created_at, hash',
);
const TESTERS = sql('secrets.testers', 'select id from installer where is_test');
const ADD = sql(
  'secrets.add',
  `insert into marketplace_secret (marketplace, hash) values ($1, $2)
   on conflict (marketplace, hash) do update set hash = excluded.hash returning created_at`,
);
const RETIRE = sql(
  'secrets.retire',
  'delete from marketplace_secret where marketplace = $1 and hash = $2 returning marketplace',
);

export function createSecretStore(query: Query, write: Write): SecretStore {
  return {
    async live() {
      const secrets = await query<{ marketplace: string; hash: Buffer }>(SECRETS);
      const testers = await query<{ id: string }>(TESTERS);
      return { secrets, testInstallers: testers.map(({ id }) => id) };
    },
    async list() {
      const rows = await query<{ marketplace: MarketplaceName; hash: Buffer; created_at: Date }>(LIST);
      return rows.map(({ created_at: addedAt, ...row }) => ({ ...row, addedAt }));
    },
    add: (marketplace, hash, actor, once, made) =>
      write(async (ask, _touch, record, keep) => {
        const { created_at: addedAt } = only(await ask<{ created_at: Date }>(ADD, [marketplace, hash]));
        const about = { ...ABOUT_MARKETPLACE, actor, organizationId: PLATFORM };
        record({ ...about, action: 'secret.add', after: { marketplace } });
        if (made) keep(made(addedAt));
        return addedAt;
      }, once),
    retire: (marketplace, hash, actor) =>
      write(async (ask, _touch, record) => {
        if ((await ask(RETIRE, [marketplace, hash])).length === 0) return false;
        const about = { ...ABOUT_MARKETPLACE, actor, organizationId: PLATFORM };
        record({ ...about, action: 'secret.retire', before: { marketplace } });
        return true;
      }),
  };
}
