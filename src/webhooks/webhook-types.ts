import { AUDIT_ACTIONS } from '../changes/audit-actions.ts';
import { EVENT_KINDS } from '../events/visible-changes.ts';

const MAX_TYPES = 50;
/** What happens to webhooks themselves is not sent to them, and what was denied is not a change. */
const NO_EVENTS = /^(?:webhook\.|access\.denied$)/;

const KINDS = new Set<string>([
  ...EVENT_KINDS.filter((kind) => kind !== 'webhook'),
  ...Object.keys(AUDIT_ACTIONS)
    .filter((action) => !NO_EVENTS.test(action))
    .map(kindIn),
]);
const TYPES = new Set<string>([
  ...Object.keys(AUDIT_ACTIONS).filter((action) => !NO_EVENTS.test(action)),
  ...EVENT_KINDS.filter((kind) => kind !== 'webhook').map((kind) => `${kind}.update`),
]);

/** What is wrong with the types that a webhook is to hear of; undefined if nothing is. */
export function faultInTypes(types: readonly string[]): string | undefined {
  if (types.length === 0 || types.length > MAX_TYPES) return `types must have 1 to ${MAX_TYPES} entries`;
  for (const type of types) {
    const isKnown = type === '*' || TYPES.has(type) || (type.endsWith('.*') && KINDS.has(type.slice(0, -2)));
    if (!isKnown)
      return `types must be *, KIND.* or an action of the audit log, got ${JSON.stringify(type.slice(0, 100))}`;
  }
  return undefined;
}

/** Whether a webhook wants to hear of it. What happens to any account is `account.*` for site administrators. */
export function isWanted(types: readonly string[], type: string, kind: string): boolean {
  return types.some((one) => one === '*' || one === type || one === `${kindIn(type)}.*` || one === `${kind}.*`);
}

/** Whether a type is one that webhooks are told of. */
export function isEventType(type: string): boolean {
  return !NO_EVENTS.test(type);
}

function kindIn(type: string): string {
  return type.split('.', 1)[0] ?? type;
}
