import { writeJson } from '../base/json.ts';
import { showActor } from '../http/wire/shown-actor.ts';
import type { AuditRow } from './audit.ts';
import { auditSentence } from './sentences/audit-sentences.ts';
import type { NameOf } from './sentences/object-names.ts';
import { attestationText } from './verification/attestation-signer.ts';

/** Serialized by hand: `before` and `after` are sent as they are stored, so that numbers and hashes stay exact. */
export function auditLine(row: AuditRow, nameOf: NameOf): string {
  const { actor, onBehalfOf, object } = row;
  const name = nameOf(row);
  const called = name === undefined ? '' : `,"name":${JSON.stringify(name)}`;
  const behalf = onBehalfOf && `"on_behalf_of":{"id":${onBehalfOf.id},"name":${JSON.stringify(onBehalfOf.name)}}`;
  return [
    `{"id":${row.id},"at":"${row.at}","organization_id":${row.organizationId}`,
    `"actor":${writeJson(showActor(actor))}`,
    ...(behalf === null ? [] : [behalf]),
    ...(row.via === null ? [] : [`"via":${state(row.via)}`]),
    `"action":${JSON.stringify(row.action)}`,
    `"object":{"type":${JSON.stringify(object.type)},"id":${object.id}${called}}`,
    `"summary":${JSON.stringify(auditSentence(row, nameOf))},"before":${state(row.before)}`,
    `"after":${state(row.after)},"request_id":${JSON.stringify(row.requestId)}`,
    ...(row.hashed === undefined ? [] : hashedParts(row.hashed)),
    ...(row.isErased ? ['"erased":true'] : []),
    ...(row.attested ? [attestationText(row.attested)] : []),
    `"previous_hash":"${row.previousHash.toString('hex')}","hash":"${row.hash.toString('hex')}"}`,
  ].join(',');
}

/** JSON on one line; ours has no line breaks anyway. */
function state(json: string | null): string {
  return json === null ? 'null' : json.replace(/[\r\n]/g, ' ');
}

/** Everything needed to compute the hash: the elements that it covers, and what their hashes were computed from. */
function hashedParts({ parts, texts }: NonNullable<AuditRow['hashed']>): string[] {
  const { actor, onBehalfOf, before, after } = parts;
  const hashed = [
    ...(actor === undefined ? [] : [`"actor":${JSON.stringify(actor)}`]),
    ...(onBehalfOf === undefined ? [] : [`"on_behalf_of":${JSON.stringify(onBehalfOf)}`]),
    ...(before === undefined ? [] : [`"before":${state(before)}`]),
    ...(after === undefined ? [] : [`"after":${state(after)}`]),
  ];
  const shown = [...texts].map(([hash, { accountId, salt, text }]) => {
    const rest = salt === null ? '' : `,"salt":"${salt.toString('hex')}","text":${JSON.stringify(text)}`;
    return `{"sha256":"${hash}","user":${accountId}${rest}}`;
  });
  return [`"form":2,"hashed":{${hashed.join(',')}},"texts":[${shown.join(',')}]`];
}
