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
  return {
    schemas: [USER_SCHEMA.id],
    id: String(user.id),
    ...documentOf(user),
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

function presentGroupName({ id, name }: GroupName, baseUrl: string) {
  return { value: String(id), $ref: `${baseUrl}/Groups/${id}`, display: name, type: 'direct' };
}

/** What a provider can write about a person. */
export function documentOf(user: ScimUser): Document {
  const { externalId, userName, displayName, formattedName, familyName, givenName, email, emailType } = user;
  const name = assigned({ formatted: formattedName, familyName, givenName });
  return {
    ...(externalId !== null && { externalId }),
    userName,
    ...(Object.keys(name).length > 0 && { name }),
    ...assigned({ displayName }),
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
