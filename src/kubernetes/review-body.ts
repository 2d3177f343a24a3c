import { invalidField } from '../base/errors.ts';
import type { PathRequest, ResourceRequest } from './needed-relation.ts';

/** What a SubjectAccessReview asks. */
export interface AccessQuestion {
  readonly user: string;
  readonly uid: string;
  /** `extra["atrium/token-id"]`: what the token of the request was made with. Undefined if nothing says so. */
  readonly credential: string | undefined;
  readonly resource: ResourceRequest | undefined;
  readonly path: PathRequest | undefined;
}

export interface TokenQuestion {
  readonly token: string;
  /** Undefined if the API server does not ask for any. */
  readonly audiences: readonly string[] | undefined;
}

export const TOKEN_ID = 'atrium/token-id';
export const ROBOT = 'atrium/robot';

type Fields = Readonly<Record<string, unknown>>;

/** An API server leaves out empty fields, and clients in Go send null for it: both mean the empty text. */
export function readAccessReview(body: unknown): AccessQuestion {
  const spec = specOf(body, 'authorization.k8s.io/v1', 'SubjectAccessReview');
  const user = textIn(spec, 'spec.user', 'user');
  if (user === '') throw invalidField('spec.user', 'spec.user is required: only questions about users are answered');
  const resource = objectIn(spec, 'spec.resourceAttributes', 'resourceAttributes');
  const path = objectIn(spec, 'spec.nonResourceAttributes', 'nonResourceAttributes');
  if ((resource === undefined) === (path === undefined)) {
    const message = 'spec must have either resourceAttributes or nonResourceAttributes';
    throw invalidField('spec', message);
  }
  return {
    user,
    uid: textIn(spec, 'spec.uid', 'uid'),
    credential: firstOf(objectIn(spec, 'spec.extra', 'extra')?.[TOKEN_ID]),
    resource: resource && readResource(resource),
    path: path && { verb: textIn(path, 'verb', 'verb'), path: textIn(path, 'path', 'path') },
  };
}

export function readTokenReview(body: unknown): TokenQuestion {
  const spec = specOf(body, 'authentication.k8s.io/v1', 'TokenReview');
  const token = textIn(spec, 'spec.token', 'token');
  if (token === '') throw invalidField('spec.token', 'spec.token is required');
  const { audiences } = spec;
  if (audiences === undefined || audiences === null) return { token, audiences: undefined };
  if (!Array.isArray(audiences) || !audiences.every((one) => typeof one === 'string')) {
    throw invalidField('spec.audiences', 'spec.audiences must be a list of texts');
  }
  return { token, audiences: audiences.length === 0 ? undefined : audiences };
}

function readResource(from: Fields): ResourceRequest {
  const text = (name: string) => textIn(from, `spec.resourceAttributes.${name}`, name);
  return {
    verb: text('verb'),
    group: text('group'),
    resource: text('resource'),
    subresource: text('subresource'),
    namespace: text('namespace'),
    name: text('name'),
  };
}

function specOf(body: unknown, version: string, kind: string): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidField('body', `body must be a ${kind} of ${version}`);
  }
  const { apiVersion, kind: sent } = body as Fields;
  if (apiVersion !== version || sent !== kind) {
    throw invalidField(sent === kind ? 'apiVersion' : 'kind', `body must be a ${kind} of ${version}`);
  }
  const spec = objectIn(body as Fields, 'spec', 'spec');
  if (spec === undefined) throw invalidField('spec', 'spec is required');
  return spec;
}

function objectIn(from: Fields, field: string, name: string): Fields | undefined {
  const value = from[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value)) throw invalidField(field, `${field} must be an object`);
  return value as Fields;
}

function textIn(from: Fields, field: string, name: string): string {
  const value = from[name];
  if (value === undefined || value === null) return '';
  if (typeof value !== 'string') throw invalidField(field, `${field} must be a text`);
  return value;
}

/** Whatever is not a list of texts names no credential that lives. */
function firstOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const [first] = Array.isArray(value) ? (value as unknown[]) : [value];
  return Array.isArray(value) && value.length === 1 && typeof first === 'string' ? first : '';
}
