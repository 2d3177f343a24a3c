import { PLATFORM, type Write } from '../../changes/write.ts';
import { type Query, sql } from '../../db/db.ts';
import { OPERATOR } from '../installers/operator-actor.ts';
import type { SecretStore } from './secrets.ts';

const SECRETS = sql('secrets.list', 'select marketplace, hash from marketplace_secret');
const TESTERS = sql('secrets.testers', 'select id from installer where is_test');
const ADD = sql(
  'secrets.add',
  'insert into marketplace_secret (marketplace, hash) values ($1, $2) on conflict do nothing',
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
    async add(marketplace, hash) {
      await write(async (ask, _touch, record) => {
        await ask(ADD, [marketplace, hash]);
        record({ ...OPERATOR, organizationId: PLATFORM, action: 'secret.add', after: { marketplace } });
      });
    },
    retire: (marketplace, hash) =>
      write(async (ask, _touch, record) => {
        if ((await ask(RETIRE, [marketplace, hash])).length === 0) return false;
        record({ ...OPERATOR, organizationId: PLATFORM, action: 'secret.retire', before: { marketplace } });
        return true;
      }),
  };
}
