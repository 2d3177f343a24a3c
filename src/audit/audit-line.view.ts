import { writeJson } from '../base/json.ts';
import { showActor } from '../http/wire/shown-actor.ts';
import type { AuditRow } from './audit.ts';
import { auditSentence } from './audit-sentences.ts';
import type { NameOf } from './object-names.ts';

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
    `"previous_hash":"${row.previousHash.toString('hex')}","hash":"${row.hash.toString('hex')}"}`,
  ].join(',');
}

/** JSON on one line; ours has no line breaks anyway. */
function state(json: string | null): string {
  return json === null ? 'null' : json.replace(/[\r\n]/g, ' ');
}
