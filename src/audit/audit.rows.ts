import { chainHash } from '../changes/audit-chain.store.ts';
import { textsIn } from '../changes/personal-texts.store.ts';
import { commitmentsIn, type KnownTexts, revealName, revealState } from '../changes/personal-texts.ts';
import type { Query } from '../db/db.ts';
import type { AuditRow, HashedParts } from './audit.ts';
import type { ChainLink } from './verification/verification.ts';

export interface EntryRow {
  id: bigint;
  moment: string;
  organization_id: bigint;
  actor_id: bigint;
  actor_name: string;
  action: string;
  object_type: string;
  object_id: bigint;
  before: string | null;
  after: string | null;
  request_id: string;
  previous_hash: Buffer;
  on_behalf_id: bigint | null;
  on_behalf_name: string | null;
  via: string | null;
  hash: Buffer;
  is_erased: boolean;
}

// `before` and `after` are selected as text: read as JSON, a 64-bit number would lose digits.
export const AUDIT_COLUMNS = `id, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US') as moment, organization_id, actor_id,
  actor_name, action, object_type, object_id, before::text as before, after::text as after, request_id, previous_hash,
  on_behalf_id, on_behalf_name, via::text as via, hash, is_erased`;

/** Entries as they are shown: with the texts that identify people, as far as these are not erased. */
export async function toAuditRows(query: Query, rows: readonly EntryRow[]): Promise<AuditRow[]> {
  const held = rows.map((row) => ({ organizationId: row.organization_id, elements: elementsOf(row) }));
  const texts = await textsIn(query, held);
  return rows.map((row) => toAuditRow(row, texts(row.organization_id)));
}

function elementsOf(row: EntryRow): (string | null)[] {
  return [row.actor_name, row.on_behalf_name, row.before, row.after];
}

function toAuditRow(row: EntryRow, known: KnownTexts): AuditRow {
  const [before, after] = [row.before, row.after].map((state) => state && revealState(state, known));
  const hashes = [...new Set(elementsOf(row).flatMap(commitmentsIn))].filter((hash) => known.has(hash));
  const shown = {
    ...toHashedRow(row),
    actor: { id: row.actor_id, name: revealName(row.actor_name, known) },
    ...(row.on_behalf_id !== null && {
      onBehalfOf: { id: row.on_behalf_id, name: revealName(row.on_behalf_name ?? '', known) },
    }),
    before: before ?? null,
    after: after ?? null,
  };
  if (hashes.length === 0) return shown;
  const parts: HashedParts = {
    ...(row.actor_name !== shown.actor.name && { actor: row.actor_name }),
    ...(row.on_behalf_name !== null &&
      row.on_behalf_name !== shown.onBehalfOf?.name && { onBehalfOf: row.on_behalf_name }),
    ...(row.before !== null && row.before !== before && { before: row.before }),
    ...(row.after !== null && row.after !== after && { after: row.after }),
  };
  return { ...shown, hashed: { parts, texts: new Map([...known].filter(([hash]) => hashes.includes(hash))) } };
}

function toHashedRow(row: EntryRow): AuditRow {
  return {
    id: row.id,
    at: momentOf(row),
    organizationId: row.organization_id,
    actor: { id: row.actor_id, name: row.actor_name },
    onBehalfOf: row.on_behalf_id === null ? null : { id: row.on_behalf_id, name: row.on_behalf_name ?? '' },
    via: row.via,
    action: row.action,
    object: { type: row.object_type, id: row.object_id },
    before: row.before,
    after: row.after,
    requestId: row.request_id,
    previousHash: row.previous_hash,
    hash: row.hash,
    ...(row.is_erased && { isErased: true }),
  };
}

export function toLink(row: EntryRow): ChainLink {
  const expected = chainHash({ ...row, at: momentOf(row) });
  return { id: row.id, previousHash: row.previous_hash, hash: row.hash, expected, isErased: row.is_erased };
}

/** The hash that a shown entry would have. It is another one than its own if a person was erased from it. */
export function hashLeft(row: AuditRow): Buffer {
  const { actor, onBehalfOf, object, hashed } = row;
  const parts = hashed?.parts ?? {};
  return chainHash({
    at: row.at,
    organization_id: row.organizationId,
    actor_id: actor.id,
    actor_name: parts.actor ?? actor.name,
    action: row.action,
    object_type: object.type,
    object_id: object.id,
    before: parts.before ?? row.before,
    after: parts.after ?? row.after,
    request_id: row.requestId,
    previous_hash: row.previousHash,
    on_behalf_id: onBehalfOf?.id ?? null,
    on_behalf_name: parts.onBehalfOf ?? onBehalfOf?.name ?? null,
    via: row.via,
  });
}

/** Milliseconds, as they were hashed. Forged finer digits must stay visible here, and break the chain. */
export function momentOf({ moment }: EntryRow): string {
  return `${moment.replace(/000$/, '')}Z`;
}
