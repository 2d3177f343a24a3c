import { doing } from '../../authz/explain/explanation-text.ts';
import { permissionName } from '../../authz/explain/permission-names.ts';
import type { AuditAction } from '../../changes/audit-actions.ts';
import { isRobotPrincipal } from '../../changes/principal.ts';
import type { AuditRow } from '../audit.ts';
import { delegateIn } from './delegate.ts';
import type { NameOf } from './object-names.ts';
import { robotIn } from './robot-actor.ts';

/**
 * Every entry in words. `%actor` made the change, `%object` is what it is about, `%user` whom it is about, `%until` when it
 * ends, `%namespaces` where it counts, `%task` what was asked for, `%changed` what differs, and `%x` any other field of the states. All of it is in the
 * entry that the reader sees, or is a name that the reader may know, so a sentence tells nothing else.
 */
const SENTENCES: Readonly<Record<AuditAction, string>> = {
  'user.create': '%actor created the user %object',
  'user.update': '%actor changed the user %object%changed',
  'user.password': '%actor set a new password',
  'user.delete': '%actor deleted the user %object',
  'user.password_email': '%actor sent the user %object an email with a link for a new password',
  'user.password_link': '%actor created a link with which the user %object sets a new password',
  'user.password_reset': '%actor set a new password with a link',
  'user.erase': '%actor erased what identified %object',
  'user.hold': '%actor began a legal hold on %object: %reason',
  'user.release': '%actor released the legal hold on %object',
  'user.view_as': '%actor began to see what %object sees',
  'user.provision': 'SCIM took up or changed the user %object',
  'user.deprovision': 'SCIM removed the user %object from the organization',
  'sign_in.refuse': 'a sign-in with a provider was rejected',
  'provider.create': '%actor added the sign-in provider %name',
  'provider.update': '%actor changed the sign-in provider %name%changed',
  'provider.delete': '%actor removed the sign-in provider %name',
  'provider.groups': 'not all groups of %object at a provider could be mapped to teams',
  'linked_account.create': '%actor linked an account at the provider %provider',
  'linked_account.delete': '%actor unlinked an account at a provider',
  'linked_account.allow': '%actor allowed the next sign-in of %object to be linked',
  'factor.create': '%actor added a second factor (%kind)',
  'factor.update': '%actor renamed a passkey%changed',
  'factor.delete': '%actor removed a second factor (%kind)',
  'factor.reset': '%actor removed all second factors of %object',
  'factor.reject': 'a second factor of %object was rejected',
  'recovery_codes.create': '%actor created new recovery codes',
  'recovery_codes.use': '%actor signed in with a recovery code; %left are left',
  'organization.create': '%actor created the organization %object',
  'organization.update': '%actor changed the organization %object%changed',
  'organization.delete': '%actor deleted the organization %object',
  'organization.apply': '%actor applied the file of %object',
  'organization.second_factor': '%actor changed whether %object requires a second factor%changed',
  'name.release': '%actor released the reserved name %name',
  'team.create': '%actor created the team %object with the permission %permission',
  'team.update': '%actor changed the team %object%changed',
  'team.delete': '%actor deleted the team %object',
  'team.provision': 'SCIM gave the team %object another external ID',
  'team.add_member': '%actor added %user to the team %object%until',
  'team.update_member': '%actor changed when the membership of %user in the team %object ends: %end',
  'team.remove_member': '%actor removed %user from the team %object',
  'team.expire_member': 'the membership of %user in the team %object ended',
  'invitation.create': '%actor invited %email',
  'invitation.resend': '%actor sent the invitation of %email again',
  'invitation.accept': '%actor accepted the invitation of %email by %invitedBy',
  'invitation.delete': '%actor revoked the invitation of %email',
  'role.create': '%actor created the role %object%changed',
  'role.update': '%actor changed the role %object%changed',
  'role.expire': 'the role %object ended for some teams%changed',
  'role.delete': '%actor deleted the role %object',
  'assignment.create': '%actor assigned the role %role to %to on %on%namespaces%until',
  'assignment.update': '%actor changed the assignment of the role %role to %to on %on%namespaces%changed',
  'assignment.delete': '%actor removed the role %role from %to on %on%namespaces',
  'assignment.expire': 'the assignment of the role %role to %to on %on%namespaces ended',
  'assignment.end': 'the assignment of the role %role to %to on %on%namespaces ended with %because',
  'request.create': '%actor asked to %task%namespaces: %reason',
  'request.approve': '%actor approved the request of %by to %task%namespaces',
  'request.deny': '%actor denied the request of %by to %task%namespaces',
  'request.cancel': '%actor cancelled the request to %task%namespaces',
  'request.expire': 'no approver decided in time about the request of %by to %task%namespaces',
  'request.fail': 'the request of %by to %task%namespaces failed: %because',
  'request.end': 'the access that %by had on request ended: to %task%namespaces',
  'request.acknowledge': '%actor acknowledged that %by broke the glass to %task%namespaces',
  'request_rules.update': '%actor changed the rules for access requests',
  'webhook.create': '%actor created the webhook %name',
  'webhook.update': '%actor changed the webhook %name%changed',
  'webhook.delete': '%actor deleted the webhook %name',
  'webhook.disable': '%actor disabled the webhook %name',
  'guardrail.create': '%actor created the guardrail %name',
  'guardrail.update': '%actor changed the guardrail %name%changed',
  'guardrail.delete': '%actor deleted the guardrail %name',
  'review.start': '%actor started the access review %name',
  'review.keep': '%actor kept access in the review %name',
  'review.end': '%actor ended access in the review %name',
  'review.close': '%actor closed the access review %name',
  'cluster.create': '%actor imported the cluster %object',
  'cluster.update': '%actor edited the cluster %object%changed',
  'cluster.report': '%actor reported how the cluster %object is reached%changed',
  'cluster.phase': 'the cluster %object reported another phase%changed',
  'cluster.delete': '%actor removed the cluster %object',
  'contract.create': '%actor created the contract %object',
  'contract.update': '%actor changed the contract %object%changed',
  'contract.revoke': '%actor revoked the contract %object',
  'contract.reinstate': 'a marketplace reinstated the contract %object',
  'contract.delete': '%actor deleted the contract %object',
  'robot.create': '%actor created the robot %object',
  'robot.update': '%actor changed the robot %object%changed',
  'robot.delete': '%actor deleted the robot %object with its tokens',
  'trust_rule.create': '%actor created the trust rule %name for %issuer',
  'trust_rule.update': '%actor changed the trust rule %name%changed',
  'trust_rule.delete': '%actor deleted the trust rule %name for %issuer',
  'trust_rule.use': '%actor was given a token by the trust rule %name%until',
  'token.create': '%actor created the token %name%until',
  'token.delete': '%actor revoked the token %name',
  'token.rotate': '%actor replaced the token %name, which works%until',
  'token.expire': 'the token %name, which had been replaced or given to an agent, reached its end',
  'device.approve': '%actor approved the program %name, which then gets a token',
  'device.deny': '%actor denied the program %name',
  'token_policy.update': '%actor changed the rules for new tokens%changed',
  'session.end': '%actor ended a browser session',
  'session.end_by_provider': 'a provider ended sessions of %object',
  'session.end_all': '%actor ended the sessions of %object',
  'credential.create': '%actor stored the cloud credential %object',
  'credential.update': '%actor replaced the cloud credential %object',
  'credential.delete': '%actor deleted the cloud credential %object',
  'bus_user.issue': '%actor got bus credentials of another user',
  'subscription.create': 'a marketplace reported a new subscription',
  'subscription.update': 'a marketplace reported another state of a subscription%changed',
  'installer.create': '%actor created an installer',
  'installer.bind': 'an installer was bound to the organization %object',
  'installer.link': '%actor issued another link to the archive of an installer',
  'installer.revoke': '%actor revoked the links to the archive of an installer',
  'delivery.redeliver': '%actor retried a delivery of a marketplace',
  'secret.add': '%actor added a secret of the marketplace %marketplace',
  'secret.retire': '%actor retired a secret of the marketplace %marketplace',
  'access.denied': '%actor was denied %method %route',
  'audit.archive': '%actor moved entries of the audit log (%entries) to the archive %archive',
  'audit.restore': '%actor put entries of the audit log (%entries) back from the archive %archive',
  'deployment.restore': '%actor restored the deployment from a backup',
};

type Fields = Readonly<Record<string, unknown>>;

/** What other users did to themselves reads better in other words. */
const OWN: Readonly<Partial<Record<AuditAction, string>>> = {
  'team.add_member': '%actor joined the team %object%until',
  'team.remove_member': '%actor left the team %object',
};
const MAX_LISTED = 5;
const MAX_TEXT = 100;

/** Who did what to whom, in one line. */
export function auditSentence(row: AuditRow, nameOf: NameOf): string {
  const [before, after] = [readState(row.before), readState(row.after)];
  const said = (field: string) => after[field] ?? before[field];
  const user = text(said('username')) || `user #${text(said('userId'))}`;
  const isOwn = row.onBehalfOf === null && user === row.actor.name;
  const action = row.action as AuditAction;
  const sentence = suppressed(row, after) ?? (isOwn ? OWN[action] : undefined) ?? SENTENCES[action];
  // An entry of another release.
  if (sentence === undefined)
    return `${actorOf(row, nameOf)}: ${row.action} ${row.object.type} ${objectOf(row, nameOf)}`;
  return sentence.replace(/%(\w+)/g, (_, word: string) => {
    switch (word) {
      case 'actor':
        return actorOf(row, nameOf);
      case 'object':
        return objectOf(row, nameOf);
      case 'user':
        return user;
      case 'until':
        return after.expiresAt ? ` until ${text(after.expiresAt)}` : '';
      case 'namespaces':
        return inNamespaces(asList(said('namespaces')));
      case 'end':
        return after.expiresAt ? text(after.expiresAt) : 'never';
      case 'task':
        return doing(text(said('relation')), text(said('on')));
      case 'changed':
        return action === 'cluster.phase' ? phasesOf(before, after) : changesOf(before, after);
      default:
        return text(said(word));
    }
  });
}

function phasesOf(before: Fields, after: Fields): string {
  return `: ${text(before.phase) || 'none'} → ${text(after.phase) || 'none'}`;
}

function inNamespaces(names: readonly string[]): string {
  if (names.length === 0) return '';
  const shown = names.slice(0, MAX_LISTED);
  if (names.length > shown.length) shown.push(`${names.length - shown.length} more`);
  return ` in the ${names.length === 1 && !names[0]?.endsWith('*') ? 'namespace' : 'namespaces'} ${shown.join(', ')}`;
}

function suppressed({ action }: AuditRow, { suppressed: count }: Fields): string | undefined {
  if (action !== 'access.denied' || count === undefined) return undefined;
  return '%suppressed more requests of %actor were denied';
}

/**
 * Robots that provision, and all robots in entries of earlier releases, act as their organization. The name in such an
 * entry is hashed and says only the number.
 */
function actorOf({ actor, onBehalfOf, organizationId, via }: AuditRow, nameOf: NameOf): string {
  if (isRobotPrincipal(actor.id)) return `robot ${actor.name}`;
  const robot = robotIn(actor.name);
  const name = robot && nameOf({ organizationId, object: { type: 'robot_ac', id: robot.id } });
  const shown = robot && name !== undefined ? `robot ${name} of ${robot.owner}` : actor.name;
  const delegate = delegateIn(via);
  if (delegate !== undefined) return `${shown} (through ${delegate.name})`;
  return onBehalfOf ? `${shown} (as ${onBehalfOf.name})` : shown;
}

function objectOf(row: AuditRow, nameOf: NameOf): string {
  return nameOf(row) ?? `#${row.object.id}`;
}

/** The difference afterwards: permissions and teams by what was added and taken away, other fields by both values. */
function changesOf(before: Fields, after: Fields): string {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const parts = fields.flatMap((field) => {
    const [old, now] = [before[field], after[field]];
    if (JSON.stringify(old) === JSON.stringify(now)) return [];
    if (Array.isArray(old ?? now)) return listed(field, asList(old), asList(now), before === EMPTY);
    const isPlain = typeof (now ?? old) !== 'object';
    return isPlain && old !== undefined && now !== undefined
      ? [`${words(field)} ${text(old) || 'none'} → ${text(now) || 'none'}`]
      : before === EMPTY
        ? []
        : [words(field)];
  });
  const shown = parts.slice(0, MAX_LISTED);
  if (parts.length > shown.length) shown.push(`${parts.length - shown.length} more`);
  return shown.length === 0 ? '' : `: ${shown.join(', ')}`;
}

function listed(field: string, old: readonly string[], now: readonly string[], isNew: boolean): string[] {
  const [added, gone] = [now.filter((one) => !old.includes(one)), old.filter((one) => !now.includes(one))];
  if (field === 'teamIds') {
    const teams = (ids: readonly string[]) => (ids.length === 1 ? '1 team' : `${ids.length} teams`);
    return [
      ...(added.length > 0 ? [`for ${teams(added)}${isNew ? '' : ' more'}`] : []),
      ...(gone.length > 0 ? [`no longer for ${teams(gone)}`] : []),
    ];
  }
  return [...added.map((one) => `+ ${one}`), ...gone.map((one) => `- ${one}`)];
}

function asList(value: unknown): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [];
  return list.map((one) =>
    isFields(one) && typeof one.action === 'string' ? permissionName(text(one.action)) : text(one),
  );
}

function words(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

function text(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (isFields(value) && typeof value.name === 'string') return value.name.slice(0, MAX_TEXT);
  if (typeof value === 'object') return JSON.stringify(value).slice(0, MAX_TEXT);
  const [, day, time] = TIME.exec(String(value)) ?? [];
  return day === undefined ? String(value).slice(0, MAX_TEXT) : `${day} ${time}Z`;
}

const EMPTY: Fields = {};
/** RFC 3339, as states have it: people read days and seconds. */
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/;

/** A state as it was stored. Without any fields if there is none. */
export function readState(state: string | null): Fields {
  const read: unknown = state === null ? EMPTY : JSON.parse(state);
  return isFields(read) ? read : EMPTY;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
