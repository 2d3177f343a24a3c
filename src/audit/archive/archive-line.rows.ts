import { writeJson } from '../../base/json.ts';
import { rawMembers } from '../../base/raw-members.ts';
import { chainHash, type HashedEntry } from '../../changes/audit-chain.store.ts';
import { principalOfRobot } from '../../changes/principal.ts';
import { showActor } from '../../http/wire/shown-actor.ts';
import { attestationText, type SignedAttestation } from '../verification/attestation-signer.ts';
import type { ArchivedEntry } from './archive-file.ts';

/** An entry as it is stored and hashed: texts that identify people are hashes. */
export interface StoredEntry extends HashedEntry {
  readonly id: bigint;
  readonly at: string;
  readonly hash: Buffer;
  readonly is_erased: boolean;
}

/** As an export has it, without the members that are not hashed. */
export function archiveLine(entry: StoredEntry, attested?: SignedAttestation): string {
  const actor = showActor({ id: entry.actor_id, name: entry.actor_name });
  const behalf = { id: entry.on_behalf_id, name: entry.on_behalf_name };
  return [
    `{"id":${entry.id},"at":"${entry.at}","organization_id":${entry.organization_id}`,
    `"actor":${writeJson(actor)}`,
    ...(behalf.id === null ? [] : [`"on_behalf_of":{"id":${behalf.id},"name":${JSON.stringify(behalf.name)}}`]),
    ...(entry.via === null ? [] : [`"via":${entry.via}`]),
    `"action":${JSON.stringify(entry.action)}`,
    `"object":{"type":${JSON.stringify(entry.object_type)},"id":${entry.object_id}}`,
    `"before":${entry.before ?? 'null'},"after":${entry.after ?? 'null'}`,
    `"request_id":${JSON.stringify(entry.request_id)}`,
    ...(entry.is_erased ? ['"erased":true'] : []),
    ...(attested ? [attestationText(attested)] : []),
    `"previous_hash":"${entry.previous_hash.toString('hex')}","hash":"${entry.hash.toString('hex')}"}`,
  ].join(',');
}

export function toArchived(entry: StoredEntry): ArchivedEntry {
  return {
    ...{ chainId: entry.organization_id, id: entry.id, at: new Date(entry.at) },
    ...{ previousHash: entry.previous_hash, hash: entry.hash, expected: chainHash(entry), isErased: entry.is_erased },
    line: archiveLine(entry),
  };
}

export function readArchiveLine(line: string): ArchivedEntry {
  return { ...toArchived(storedIn(line)), line };
}

/** The values that are stored again when the entry is put back. */
export function storedIn(line: string): StoredEntry {
  const entry = rawMembers(line);
  const [actor, object] = [rawMembers(raw(entry, 'actor')), rawMembers(raw(entry, 'object'))];
  const behalf = entry.has('on_behalf_of') ? rawMembers(raw(entry, 'on_behalf_of')) : undefined;
  const actorId = BigInt(raw(actor, 'id'));
  return {
    id: BigInt(raw(entry, 'id')),
    at: text(entry, 'at'),
    organization_id: BigInt(raw(entry, 'organization_id')),
    actor_id: actor.has('type') ? principalOfRobot(actorId) : actorId,
    actor_name: text(actor, 'name'),
    action: text(entry, 'action'),
    object_type: text(object, 'type'),
    object_id: BigInt(raw(object, 'id')),
    before: state(entry, 'before'),
    after: state(entry, 'after'),
    request_id: text(entry, 'request_id'),
    previous_hash: Buffer.from(text(entry, 'previous_hash'), 'hex'),
    hash: Buffer.from(text(entry, 'hash'), 'hex'),
    on_behalf_id: behalf ? BigInt(raw(behalf, 'id')) : null,
    on_behalf_name: behalf ? text(behalf, 'name') : null,
    via: entry.get('via') ?? null,
    is_erased: entry.get('erased') === 'true',
  };
}

function raw(members: ReadonlyMap<string, string>, name: string): string {
  const value = members.get(name);
  if (value === undefined) throw new SyntaxError(`there is no ${name}`);
  return value;
}

function text(members: ReadonlyMap<string, string>, name: string): string {
  return String(JSON.parse(raw(members, name)));
}

function state(members: ReadonlyMap<string, string>, name: string): string | null {
  const value = raw(members, name);
  return value === 'null' ? null : value;
}
