import { hash } from 'node:crypto';
import { isAddress } from '../users/emails/email-address.ts';
import type { GroupName, ScimUser } from './provisioning.ts';
import { USER_SCHEMA } from './scim-attributes.ts';
import { type Document, isObject, rejected } from './scim-document.ts';
import type { UserRequest } from './scim-users.ts';

/** Of everything that a provider can write. In which teams the person is belongs to the groups. */
export function userVersion(user: ScimUser): string {
  return `W/"${hash('sha256', JSON.stringify([String(user.id), documentOf(user)]), 'base64url').slice(0, 22)}"`;
}

export function presentUser(user: ScimUser, baseUrl: string, groups?: readonly GroupName[]) {
  const document = documentOf(user);
  const isExtended = (name: string) => USER_SCHEMA.extension?.attributes.some((one) => one.name === name) ?? false;
  const core = Object.fromEntries(Object.entries(document).filter(([name]) => !isExtended(name)));
  const extension = extensionOf(user, document, baseUrl);
  return {
    schemas: [USER_SCHEMA.id, ...(extension ? [extension[0]] : [])],
    id: String(user.id),
    ...core,
    ...(extension && { [extension[0]]: extension[1] }),
    ...(groups && { groups: groups.map((group) => presentGroupName(group, baseUrl)) }),
    meta: {
      resourceType: 'User',
      created: user.createdAt.toISOString(),
      lastModified: user.updatedAt.toISOString(),
      location: `${baseUrl}/Users/${user.id}`,
      version: userVersion(user),
    },
  };
}

/** Undefined if there is nothing in it. */
function extensionOf(
  user: ScimUser,
  { employeeNumber, costCenter, department, manager }: Document,
  baseUrl: string,
): readonly [string, Document] | undefined {
  const { extension } = USER_SCHEMA;
  const parts = { employeeNumber, costCenter, department, manager };
  const given = Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined));
  if (!extension || Object.keys(given).length === 0) return undefined;
  if (!isObject(manager) || user.managerId === null) return [extension.id, given];
  return [extension.id, { ...given, manager: { ...manager, $ref: `${baseUrl}/Users/${user.managerId}` } }];
}

function presentGroupName({ id, name }: GroupName, baseUrl: string) {
  return { value: String(id), $ref: `${baseUrl}/Groups/${id}`, display: name, type: 'direct' };
}

/** What a provider can write about a person. */
export function documentOf(user: ScimUser): Document {
  const { externalId, userName, displayName, formattedName, familyName, givenName, email, emailType } = user;
  const name = assigned({ formatted: formattedName, familyName, givenName });
  const { title, department, employeeNumber, costCenter } = user;
  const manager = assigned({ value: user.manager, displayName: user.managerName });
  return {
    ...(externalId !== null && { externalId }),
    userName,
    ...(Object.keys(name).length > 0 && { name }),
    ...assigned({ displayName, title, employeeNumber, costCenter, department }),
    ...(Object.keys(manager).length > 0 && { manager }),
    ...(email !== '' && { emails: [{ value: email, type: emailType, primary: true }] }),
    active: user.active,
  };
}

/** The other way round. */
export function requestOf(document: Document): UserRequest {
  const userName = textIn(document, 'userName');
  if (userName === '') throw rejected('userName is required');
  const name = isObject(document.name) ? document.name : {};
  const emails = (Array.isArray(document.emails) ? document.emails : []).filter(isObject);
  const manager = isObject(document.manager) ? document.manager : {};
  const email = emails.find((one) => one.primary === true) ?? emails[0] ?? {};
  return {
    userName,
    externalId: textIn(document, 'externalId') || null,
    displayName: textIn(document, 'displayName'),
    formattedName: textIn(name, 'formatted'),
    givenName: textIn(name, 'givenName'),
    familyName: textIn(name, 'familyName'),
    email: textIn(email, 'value') || addressIn(userName),
    emailType: textIn(email, 'type') || 'work',
    title: textIn(document, 'title'),
    department: textIn(document, 'department'),
    employeeNumber: textIn(document, 'employeeNumber'),
    costCenter: textIn(document, 'costCenter'),
    manager: textIn(manager, 'value'),
    managerName: textIn(manager, 'displayName'),
    active: typeof document.active === 'boolean' ? document.active : undefined,
  };
}

function addressIn(userName: string): string {
  if (isAddress(userName)) return userName;
  throw rejected('emails must have an address, because userName is none');
}

function textIn(document: Document, name: string): string {
  const value = document[name];
  return typeof value === 'string' ? value : '';
}

function assigned(texts: Readonly<Record<string, string>>): Document {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}
