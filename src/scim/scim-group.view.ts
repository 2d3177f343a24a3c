import { hash } from 'node:crypto';
import { writeJson, writeLongListInSlices } from '../base/json.ts';
import type { GroupMember, ScimGroup } from './provisioning.ts';
import { GROUP_SCHEMA } from './scim-attributes.ts';
import { type Document, isObject, isSame, readOne, readValue, rejected } from './scim-document.ts';
import type { Filter } from './scim-filter.ts';
import type { GroupRequest, MemberStep, WholeGroup } from './scim-groups.ts';
import { type Selection, selected, wants } from './scim-messages.view.ts';
import type { Operation } from './scim-operations.ts';

export function groupVersion({ id, displayName, externalId, members }: WholeGroup): string {
  const text = JSON.stringify([String(id), displayName, externalId, members.map((one) => one.id).join()]);
  return `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`;
}

/** As text, because a group can have tens of thousands of members. Without them, its version is not known either. */
export async function writeGroup(
  group: ScimGroup & { readonly members?: readonly GroupMember[] },
  baseUrl: string,
  selection: Selection,
): Promise<string> {
  const { members } = group;
  const resource = {
    schemas: [GROUP_SCHEMA.id],
    id: String(group.id),
    ...(group.externalId !== null && { externalId: group.externalId }),
    displayName: group.displayName,
    meta: {
      resourceType: 'Group',
      created: group.createdAt.toISOString(),
      lastModified: group.updatedAt.toISOString(),
      location: `${baseUrl}/Groups/${group.id}`,
      ...(members && { version: groupVersion({ ...group, members }) }),
    },
  };
  const text = writeJson(selected(GROUP_SCHEMA, resource, selection));
  if (!members || members.length === 0 || !wants(selection, 'members')) return text;
  const isNamed = selection.only?.has('members.display') ?? false;
  const present = (member: GroupMember) => {
    const shown = { members: presentMember(member, baseUrl, isNamed) };
    return selected(GROUP_SCHEMA, shown, selection).members;
  };
  return `${text.slice(0, -1)},"members":${await writeLongListInSlices(members, present)}}`;
}

function presentMember({ id, userName }: GroupMember, baseUrl: string, isNamed: boolean) {
  return { value: String(id), $ref: `${baseUrl}/Users/${id}`, type: 'User', ...(isNamed && { display: userName }) };
}

/** The body of POST and PUT. A list of members that is left out stays as it is. */
export function groupRequest(document: Document): GroupRequest & { readonly displayName: string } {
  const { displayName, externalId, members } = document;
  if (typeof displayName !== 'string' || displayName.trim() === '') throw rejected('displayName is required');
  const steps: MemberStep[] = members === undefined ? [] : [{ op: 'replace', ids: idsIn(members) }];
  return { displayName, externalId: typeof externalId === 'string' ? externalId : null, steps };
}

/** The operations of a PATCH. The list of members is never written out for them: it can be long. */
export function groupChanges(operations: readonly Operation[]): GroupRequest {
  const steps: MemberStep[] = [];
  let changes: Omit<GroupRequest, 'steps'> = {};
  for (const { op, attribute, sub, filter, value } of operations) {
    if (attribute.name === 'members') {
      if (sub) throw rejected('a member cannot be changed, only added or removed', 'mutability');
      steps.push(filter ? filteredStep(op, filter) : memberStep(op, readValue(attribute, value) ?? [], value));
    } else if (attribute.name === 'displayName') {
      const displayName = op === 'remove' ? undefined : readOne(attribute, value);
      if (typeof displayName !== 'string') throw rejected('displayName is required');
      changes = { ...changes, displayName };
    } else {
      const externalId = op === 'remove' ? undefined : readOne(attribute, value);
      changes = { ...changes, externalId: typeof externalId === 'string' ? externalId : null };
    }
  }
  return { ...changes, steps };
}

function memberStep(op: Operation['op'], values: unknown, given: unknown): MemberStep {
  // Without values, all are meant. With values, Entra ID means only these, although the path names the whole list.
  if (op === 'remove' && (given === undefined || given === null)) return { op: 'replace', ids: [] };
  return { op, ids: idsIn(values) };
}

function filteredStep(op: Operation['op'], filter: Filter): MemberStep {
  if (op !== 'remove') throw rejected('a member cannot be changed, only added or removed', 'mutability');
  return { op, ids: idsMeant(filter) };
}

/** `value eq "7"`, or several of them. */
function idsMeant(filter: Filter): bigint[] {
  if (filter.kind === 'or') return filter.of.flatMap(idsMeant);
  if (filter.kind === 'compare' && filter.op === 'eq' && filter.path.name === 'value') {
    return idsIn([{ value: String(filter.value) }], 'nobody');
  }
  throw rejected('members are found by value eq "…" only, or by several of that with or', 'invalidFilter');
}

/** What cannot be an ID is the ID of no user: an error, unless no user is fine. */
function idsIn(members: unknown, absent: 'error' | 'nobody' = 'error'): bigint[] {
  return (members as readonly unknown[]).flatMap((member) => {
    const { value, type } = isObject(member) ? member : {};
    if (type !== undefined && !isSame(type, 'User')) throw rejected('members must be users: groups have no groups');
    if (typeof value === 'string' && /^\d{1,18}$/.test(value)) return [BigInt(value)];
    if (absent === 'nobody') return [];
    throw rejected(`members: there is no user ${JSON.stringify(String(value).slice(0, 60))} in the organization`);
  });
}
