import { chainHash } from '../../changes/audit-chain.store.ts';
import { type Query, sql } from '../../db/db.ts';
import { AUDIT_COLUMNS, type EntryRow, momentOf } from '../audit.rows.ts';
import type { Attested } from './attestations.ts';

const ATTESTING = sql(
  'attestations.list',
  `select ${AUDIT_COLUMNS} from audit a
    where organization_id = 0 and action = 'user.erase' and id > $1 and after is not null order by id limit $2`,
);
// An archived one counts only if a segment covers it, whose signature the verification of that log checks.
const KEPT = sql(
  'attestations.kept',
  `select k.id, k.after from audit_kept k
    where k.organization_id = 0 and k.action = 'user.erase' and k.id > $1 and exists (
      select 1 from audit_segment s where s.organization_id = 0 and k.id between s.first_id and s.last_id)
    order by k.id limit $2`,
);
/** Each lists hundreds of entries, and is read in one piece. */
const PAGE = 10;

/** What the deployment's log says was erased from entries of a log. An entry that was forged attests nothing. */
export async function attestedIn(query: Query, chainId: bigint): Promise<Attested> {
  const found = new Map<bigint, Buffer>();
  const note = (after: string | null) => {
    for (const { organizationId, id, hash } of entriesIn(after)) {
      if (organizationId === String(chainId)) found.set(BigInt(id), Buffer.from(hash, 'hex'));
    }
  };
  for (let last = 0n; ; ) {
    const rows = await query<EntryRow>(ATTESTING, [last, PAGE]);
    for (const row of rows) {
      if (chainHash({ ...row, at: momentOf(row) }).equals(row.hash)) note(row.after);
    }
    if (rows.length < PAGE) break;
    last = rows.at(-1)?.id ?? last;
  }
  for (let last = 0n; ; ) {
    const rows = await query<{ id: bigint; after: string | null }>(KEPT, [last, PAGE]);
    for (const { after } of rows) note(after);
    if (rows.length < PAGE) break;
    last = rows.at(-1)?.id ?? last;
  }
  return found;
}

interface Attestation {
  readonly organizationId: string;
  readonly id: string;
  readonly hash: string;
}

function entriesIn(after: string | null): readonly Attestation[] {
  if (after === null) return [];
  const { entries = [] } = JSON.parse(after) as { entries?: readonly Attestation[] };
  return entries;
}
