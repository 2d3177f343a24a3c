import { type Query, sql } from '../../db/db.ts';
import type { MarketplaceName } from '../marketplaces.ts';
import type { Binding, Installer } from '../subscriptions/delivery-transaction.ts';

export interface InstallerRow {
  id: string;
  marketplace: MarketplaceName;
  is_test: boolean;
  created_at: Date;
  expires_at: Date;
  link_generation: number;
  bound_at: Date | null;
  subscription_id: bigint | null;
  organization_id: bigint | null;
  organization_name: string;
  contract_id: bigint | null;
  contract_uid: string;
  contract_revoked: boolean;
  contract_lapsed: boolean;
  cluster_id: string | null;
  cloud_account: string | null;
  admin_login: string;
  domains: string[];
  base_url: string;
  version: string;
  claim_id: string;
}

/** For statements of stores that list installers. */
export const INSTALLERS = `select i.id, i.marketplace, i.is_test, i.created_at, i.expires_at, i.link_generation, i.bound_at,
    i.subscription_id, i.organization_id, a.name as organization_name, i.contract_id, c.uid as contract_uid,
    c.revoked_at is not null as contract_revoked, i.contract_lapsed, i.cluster_id, i.cloud_account, i.admin_login, i.domains,
    i.base_url, i.version, i.claim_id
  from installer i left join account a on a.id = i.organization_id left join contract c on c.id = i.contract_id`;
const GET = sql('installers.get', `${INSTALLERS} where i.id = $1`);
// With a limit, PostgreSQL looks each ID up, even if it planned this while the tables were empty.
const LOCK = sql(
  'installers.lock',
  `select found.* from unnest($1::text[]) as wanted
    cross join lateral (${INSTALLERS} where i.id = wanted limit 1 for update of i) as found`,
);

export async function selectInstaller(query: Query, id: string): Promise<Installer | undefined> {
  const [row] = await query<InstallerRow>(GET, [id]);
  return row && toInstaller(row);
}

/** In the order of their IDs for every transaction, so that two that lock the same ones cannot block each other. */
export async function lockInstallers(query: Query, ids: readonly string[]): Promise<(Installer | undefined)[]> {
  const rows = await query<InstallerRow>(LOCK, [[...ids].sort()]);
  const installers = new Map(rows.map((row) => [row.id, toInstaller(row)]));
  return ids.map((id) => installers.get(id));
}

export function toInstaller(row: InstallerRow): Installer {
  const { bound_at: boundAt, organization_id: organizationId, contract_id: contractId } = row;
  const isWhole = boundAt !== null && organizationId !== null && contractId !== null;
  return {
    id: row.id,
    marketplace: row.marketplace,
    isTest: row.is_test,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    linkGeneration: row.link_generation,
    binding: isWhole ? toBinding(row, boundAt, organizationId, contractId) : undefined,
    isSpent: boundAt !== null && !isWhole,
  };
}

function toBinding(row: InstallerRow, boundAt: Date, organizationId: bigint, contractId: bigint): Binding {
  return {
    boundAt,
    subscriptionId: row.subscription_id,
    organizationId,
    organizationName: row.organization_name,
    contractId,
    contractUid: row.contract_uid,
    contractRevoked: row.contract_revoked,
    contractLapsed: row.contract_lapsed,
    clusterId: row.cluster_id,
    cloudAccount: row.cloud_account,
    adminLogin: row.admin_login,
    domains: row.domains,
    baseUrl: row.base_url,
    version: row.version,
    claimId: row.claim_id,
  };
}
