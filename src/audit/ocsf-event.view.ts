import { principalOf } from '../changes/principal.ts';
import type { AuditRow } from './audit.ts';
import { auditLine } from './audit-line.view.ts';
import { OCSF_NAMES, OCSF_VERSION, ocsfClassOf } from './ocsf-classes.ts';
import { auditSentence, readState } from './sentences/audit-sentences.ts';
import { delegateIn } from './sentences/delegate.ts';
import type { NameOf } from './sentences/object-names.ts';

const REGULAR = 1;
const SYSTEM = 3;
const PRODUCT = { name: 'Atrium', vendor_name: 'Atrium' };
/** The log stores no addresses, and the class of API calls requires some origin. */
const UNKNOWN_ORIGIN = { name: 'unknown' };

type State = Readonly<Record<string, unknown>>;

/**
 * An entry as an event of the Open Cybersecurity Schema Framework. `unmapped.entry` is the line of the plain export as
 * a text, so a copy that a SIEM has parsed and written again can still be verified.
 */
export function ocsfEvent(row: AuditRow, nameOf: NameOf): string {
  const [before, after] = [readState(row.before), readState(row.after)];
  const { classUid, activity, isFailure } = ocsfClassOf(row.action, before, after);
  const { name, activities } = OCSF_NAMES[classUid];
  const known = activities[activity];
  return JSON.stringify({
    metadata: {
      version: OCSF_VERSION,
      product: PRODUCT,
      uid: String(row.id),
      tenant_uid: String(row.organizationId),
      log_name: 'audit',
      original_time: row.at,
    },
    time: Date.parse(row.at),
    category_uid: Math.floor(classUid / 1000),
    class_uid: classUid,
    class_name: name,
    activity_id: activity,
    activity_name: known ?? row.action,
    type_uid: classUid * 100 + activity,
    type_name: `${name}: ${known ?? 'Other'}`,
    severity_id: 1,
    status_id: isFailure ? 2 : 1,
    message: auditSentence(row, nameOf),
    actor: { user: userOf(row.actor), ...agentOf(row.via) },
    ...subjectOf(row, classUid, { ...before, ...after }, nameOf),
    unmapped: {
      number: String(row.id),
      hash: row.hash.toString('hex'),
      previous_hash: row.previousHash.toString('hex'),
      entry: auditLine(row, nameOf),
    },
  });
}

/** What the class requires besides what all classes do. */
function subjectOf(row: AuditRow, classUid: number, state: State, nameOf: NameOf): object {
  const { type, id } = row.object;
  const name = nameOf(row);
  const object = { uid: String(id), ...(name !== undefined && { name }) };
  const privilege = state.role ?? state.relation;
  const privileges = typeof privilege === 'string' ? { privileges: [privilege] } : {};
  switch (classUid) {
    case 3001:
      return { user: affectedUser(row, object) };
    case 3002:
      return { user: affectedUser(row, object), service: { name: PRODUCT.name } };
    case 3004:
      return { entity: { ...object, type } };
    case 3005:
      return { user: holderOf(state.by ?? state.to) ?? affectedUser(row, object), ...privileges };
    case 3006: {
      if (type === 'team') {
        const { userId, username } = state;
        const user = userId === undefined ? {} : { user: { uid: String(userId), name: String(username ?? '') } };
        return { group: object, ...user };
      }
      const { id: teamId, name: team } = state.to as State;
      return { group: { uid: String(teamId), name: String(team) }, ...privileges };
    }
    default:
      return {
        api: { operation: row.action, request: { uid: row.requestId } },
        src_endpoint: UNKNOWN_ORIGIN,
        resources: [{ ...object, type }],
      };
  }
}

function userOf({ id: number, name }: AuditRow['actor']) {
  const { type, id } = principalOf(number);
  return { uid: String(id), name, type_id: type === 'user' && id !== 0n ? REGULAR : SYSTEM };
}

/** The program that acted for the user. */
function agentOf(via: AuditRow['via']): object {
  const agent = delegateIn(via);
  return agent === undefined ? {} : { app_name: agent.name, app_uid: `token:${agent.tokenId}` };
}

/** The account that the entry is about: its object, or whose log it is in, such as the owner of a passkey. */
function affectedUser({ object, onBehalfOf, actor }: AuditRow, shown: object): object {
  return object.type === 'user' ? { ...shown, type_id: REGULAR } : userOf(onBehalfOf ?? actor);
}

function holderOf(given: unknown): object | undefined {
  if (typeof given !== 'object' || given === null) return undefined;
  const { type, id, name } = given as State;
  return { uid: String(id), name: String(name), type_id: type === 'user' ? REGULAR : SYSTEM };
}
