import type { Item } from '../../../client/client.ts';
import { titleOf } from '../../../client/object-kinds.ts';
import { orgPath } from '../data/org.ts';
import { When } from './when.tsx';

export type AuditEntry = Item<'GET /orgs/{org}/audit'>;

const VERBS: Readonly<Record<string, string>> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  revoke: 'revoked',
  reinstate: 'reinstated',
  phase: 'reported the phase of',
  bind: 'bound',
};

/** Entries of the audit log, newest first, as sentences. */
export function Entries({ of, org, empty }: { of: readonly AuditEntry[]; org: string; empty: string }) {
  if (of.length === 0) return <p class="quiet">{empty}</p>;
  return (
    <ul class="entries">
      {of.map((entry) => (
        <li key={String(entry.id)}>
          <a
            href={orgPath(org, `/audit?${new URLSearchParams({ object: `${entry.object.type}:${entry.object.id}` })}`)}
          >
            {entry.object.type === 'assignment' ? (
              <span dir="auto">{entry.summary}</span>
            ) : (
              <>
                <EntryActor actor={entry.actor} /> {verbOf(entry)} {nounOf(entry)} <bdi>{nameOf(entry)}</bdi>
                {detailOf(entry)}
              </>
            )}
          </a>
          <span class="quiet small">
            <When at={entry.at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** A robot is named as such, because a user can have the same name. */
export function EntryActor({ actor }: { actor: AuditEntry['actor'] }) {
  return (
    <>
      {actor.type === 'robot_ac' && 'robot '}
      <bdi>{actor.name}</bdi>
    </>
  );
}

function verbOf({ action, before, after }: AuditEntry): string {
  if (action === 'access.denied') return 'was denied a change of';
  if (action === 'team.add_member') return `added ${textOf(after, 'username')} to`;
  if (action === 'team.update_member') return `changed when ${textOf(after, 'username')} leaves`;
  if (action === 'team.expire_member') return `ended the membership of ${textOf(before, 'username')} in`;
  if (action === 'role.expire') return 'ended an assignment of';
  if (action === 'team.remove_member') return `removed ${textOf(before, 'username')} from`;
  const verb = action.split('.')[1] ?? action;
  return VERBS[verb] ?? verb.replaceAll('_', ' ');
}

function nounOf({ object }: AuditEntry): string {
  return `the ${kindOf(object.type)}`;
}

function kindOf(type: string): string {
  return titleOf(type);
}

/** What an entry is about, by its name. The exact object shows on hover. */
export function EntryObject({ entry }: { entry: AuditEntry }) {
  const { type, id } = entry.object;
  return (
    <span title={`${type}:${id}`}>
      <span class="quiet">{kindOf(type)}</span> <bdi>{nameOf(entry)}</bdi>
    </span>
  );
}

/** The name that the object has now, else the last one that the entry tells, else its number. */
function nameOf({ object, before, after }: AuditEntry): string {
  const { name } = object as { readonly name?: string | null };
  return (
    name ||
    textOf(after, 'name') ||
    textOf(before, 'name') ||
    textOf(after ?? before, 'team') ||
    // What there is only one of has the number 0.
    (String(object.id) === '0' ? '' : String(object.id))
  );
}

function detailOf({ action, after }: AuditEntry): string {
  return action === 'cluster.phase' ? `: ${textOf(after, 'phase')}` : '';
}

function textOf(state: unknown, key: string): string {
  const value = (state as Readonly<Record<string, unknown>> | null)?.[key];
  return typeof value === 'string' ? value : '';
}
