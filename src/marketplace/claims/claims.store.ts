import { type Query, sql } from '../../db/db.ts';
import { canonicalJson, type JsonObject } from '../notifications/canonical-json.ts';
import { type AskCentral, evaluationError } from './central.client.ts';
import type { Claim, ClaimStore } from './claims.ts';

const GET = sql('claims.get', 'select claimable, claimed, flags, backoff_seconds, next_at from claim where id = $1');
const SAVE = sql(
  'claims.save',
  `insert into claim (id, claimable, claimed, flags, backoff_seconds, next_at, asked_at)
   values ($1, $2, $3, $4::json, $5, $6, now())
   on conflict (id) do update set claimable = excluded.claimable, claimed = excluded.claimed, flags = excluded.flags,
     backoff_seconds = excluded.backoff_seconds, next_at = excluded.next_at, asked_at = excluded.asked_at`,
);
const RULES = sql(
  'central.rules',
  `select c.claimable, c.claimed, exists (select 1 from central_claim) as any
     from (select 1) as one left join central_claim c on c.id = $1`,
);
const PUT_RULES = sql(
  'central.put',
  `insert into central_claim (id, claimable, claimed) values ($1, $2, $3)
   on conflict (id) do update set claimable = excluded.claimable, claimed = excluded.claimed`,
);

interface Row {
  claimable: boolean;
  claimed: boolean;
  flags: JsonObject;
  backoff_seconds: number;
  next_at: Date | null;
}

export function createClaimStore(query: Query): ClaimStore {
  return {
    async get(id): Promise<Claim | undefined> {
      const [row] = await query<Row>(GET, [id]);
      if (!row) return undefined;
      const { claimable, claimed, flags, backoff_seconds: backoffSeconds, next_at: nextAt } = row;
      return { claimable, claimed, flags, backoffSeconds, nextAt };
    },
    async save(id, { claimable, claimed, flags, backoffSeconds, nextAt }) {
      await query(SAVE, [id, claimable, claimed, canonicalJson(flags), backoffSeconds, nextAt]);
    },
  };
}

/** Replaces the central server in a demo. Without demo data, there is no server to ask. */
export function createBuiltInCentral(query: Query) {
  const ask: AskCentral = async (id) => {
    const [row] = await query<{ claimable: boolean | null; claimed: boolean | null; any: boolean }>(RULES, [id]);
    if (row?.any !== true) throw evaluationError(new Error('CENTRAL_MARKETPLACE_URL is not set'));
    const { claimable, claimed } = row;
    return claimable === null || claimed === null ? undefined : { claimable, claimed, flags: { claimable, claimed } };
  };
  return {
    ask,
    async put(id: string, claimable: boolean, claimed: boolean): Promise<void> {
      await query(PUT_RULES, [id, claimable, claimed]);
    },
  };
}
