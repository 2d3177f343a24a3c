import { PLATFORM, type Write } from '../../changes/write.ts';
import { only, type Query, sql } from '../../db/db.ts';
import { createFilters } from '../../db/filters.ts';
import { likeText } from '../../db/like-text.ts';
import { INSTALLERS, type InstallerRow, selectInstaller, toInstaller } from './installers.rows.ts';
import type { InstallerState, InstallerStore } from './installers.ts';
import { ABOUT_MARKETPLACE } from './operator-actor.ts';

const CREATE = sql(
  'installers.create',
  'insert into installer (id, marketplace, is_test, expires_at) values ($1, $2, $3, $4) returning created_at',
);
const REVOKE = sql(
  'installers.revoke',
  `update installer set link_generation = link_generation + 1 where id = $1
   returning coalesce(organization_id, 0) as organization_id, link_generation`,
);

/** The same distinctions as `stateOf` makes, about `installer i`. */
export const INSTALLER_CONDITIONS: Readonly<Record<InstallerState, (now: () => string) => string>> = {
  unbound: (now) => `i.bound_at is null and i.expires_at > ${now()}::timestamptz`,
  expired: (now) => `i.bound_at is null and i.expires_at <= ${now()}::timestamptz`,
  bound: () => 'i.bound_at is not null and i.organization_id is not null and i.contract_id is not null',
  spent: () => 'i.bound_at is not null and (i.organization_id is null or i.contract_id is null)',
};

export function createInstallerStore(query: Query, write: Write): InstallerStore {
  return {
    create: (draft, actor, once) =>
      write(async (ask, _touch, record, keep) => {
        const { id, marketplace, isTest, expiresAt } = draft;
        const values = [id, marketplace, isTest, expiresAt];
        const { created_at: createdAt } = only(await ask<{ created_at: Date }>(CREATE, values));
        const after = { id: hint(id), marketplace, isTest, expiresAt };
        record({ ...ABOUT_MARKETPLACE, actor, organizationId: PLATFORM, action: 'installer.create', after });
        const created = { ...draft, createdAt, linkGeneration: 1, binding: undefined, isSpent: false };
        keep(created);
        return created;
      }, once),
    get: (id) => selectInstaller(query, id),
    async list({ marketplace, state, text, subscriptionId, after, limit }, now) {
      const filters = createFilters(limit);
      filters.add('marketplace', marketplace, (one) => `i.marketplace = ${one}`);
      filters.add('subscription', subscriptionId, (one) => `i.subscription_id = ${one}`);
      if (state !== undefined)
        filters.require(
          state,
          INSTALLER_CONDITIONS[state](() => filters.place(now)),
        );
      filters.add('text', text && likeText(text), (one) => {
        const columns = ['i.id', 'a.name', 'i.cluster_id', 'i.cloud_account', 'i.admin_login'];
        return `(${columns.map((column) => `lower(${column}) like ${one}`).join(' or ')})`;
      });
      filters.add(
        'after',
        after,
        (one) => `(i.created_at, i.id) < (select p.created_at, p.id from installer p where p.id = ${one})`,
      );
      const statement = filters.statement(
        'installers.list',
        (where) => `${INSTALLERS} ${where} order by i.created_at desc, i.id desc limit $1`,
      );
      return (await query<InstallerRow>(statement, filters.values)).map(toInstaller);
    },
    recordLink: ({ id, binding }, expiresAt, actor) =>
      write(async (_ask, _touch, record) => {
        const organizationId = binding?.organizationId ?? PLATFORM;
        const after = { id: hint(id), expiresAt };
        record({ ...ABOUT_MARKETPLACE, actor, organizationId, action: 'installer.link', after });
      }),
    revokeLinks: (id, actor) =>
      write(async (ask, _touch, record) => {
        const [row] = await ask<{ organization_id: bigint; link_generation: number }>(REVOKE, [id]);
        if (!row) return false;
        const after = { id: hint(id), linkGeneration: row.link_generation };
        const organizationId = row.organization_id;
        record({ ...ABOUT_MARKETPLACE, actor, organizationId, action: 'installer.revoke', after });
        return true;
      }),
  };
}

/** Enough to find an installer again. The full ID is not recorded, because customers authenticate with it. */
function hint(id: string): string {
  return `${id.slice(0, 8)}…`;
}
