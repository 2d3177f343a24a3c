import { PLATFORM, type Write } from '../changes/write.ts';
import { type Db, sql } from '../db/db.ts';
import { NO_POLICY, type TokenCreators, type TokenPolicy, type TokenPolicyStore } from './token-policy.ts';

interface PolicyRow {
  max_days: number | null;
  expiry_required: boolean;
  personal_tokens: TokenCreators;
}

const OWNED = 'from token_policy where coalesce(organization_id, 0) = coalesce($1, 0)';
const GET = sql('tokenPolicy.get', `select max_days, expiry_required, personal_tokens ${OWNED}`);
const LOCK = sql('tokenPolicy.lock', `select max_days, expiry_required, personal_tokens ${OWNED} for update`);
const SET = sql(
  'tokenPolicy.set',
  `insert into token_policy (organization_id, max_days, expiry_required, personal_tokens) values ($1, $2, $3, $4)
   on conflict (coalesce(organization_id, 0)) do update
      set max_days = excluded.max_days, expiry_required = excluded.expiry_required,
          personal_tokens = excluded.personal_tokens, updated_at = now()`,
);

export function createTokenPolicyStore(db: Db, write: Write): TokenPolicyStore {
  return {
    async get(organizationId) {
      const [row] = await db.query<PolicyRow>(GET, [organizationId ?? null]);
      return row && toPolicy(row);
    },

    // Nothing remembers a policy, and no rights depend on it, so no revision is taken.
    async set(organizationId, policy, actor) {
      await write(async (query, _touch, record) => {
        const [row] = await query<PolicyRow>(LOCK, [organizationId ?? null]);
        const { maxDays, expiryRequired, personalTokens } = policy;
        await query(SET, [organizationId ?? null, maxDays, expiryRequired, personalTokens]);
        const objectId = organizationId ?? PLATFORM;
        const about = { actor, organizationId: objectId, objectType: 'token_policy', objectId };
        record({ ...about, action: 'token_policy.update', before: row ? toPolicy(row) : NO_POLICY, after: policy });
      });
    },
  };
}

function toPolicy({ max_days, expiry_required, personal_tokens }: PolicyRow): TokenPolicy {
  return { maxDays: max_days, expiryRequired: expiry_required, personalTokens: personal_tokens };
}
