import type { Item } from '../../../client/client.ts';
import { titleOf } from '../../../client/object-kinds.ts';
import { orgPath } from '../data/org.ts';
import { When } from './when.tsx';

export type AuditEntry = Item<'GET /orgs/{org}/audit'>;

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
            <span dir="auto">{entry.summary}</span>
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

/** What has no name of its own; the sentence says what it is about. */
const NAMELESS: readonly string[] = ['assignment', 'invitation'];

/** The name that the object has now, else the last one that the entry tells, else its number. */
function nameOf({ object, before, after }: AuditEntry): string {
  const { name } = object as { readonly name?: string | null };
  if (NAMELESS.includes(object.type)) return textOf(after ?? before, 'email');
  return (
    name ||
    textOf(after, 'name') ||
    textOf(before, 'name') ||
    textOf(after ?? before, 'team') ||
    // What there is only one of has the number 0.
    (String(object.id) === '0' ? '' : String(object.id))
  );
}

function textOf(state: unknown, key: string): string {
  const value = (state as Readonly<Record<string, unknown>> | null)?.[key];
  return typeof value === 'string' ? value : '';
}
