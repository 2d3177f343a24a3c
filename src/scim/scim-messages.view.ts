import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { callerOf } from '../http/admission/access.ts';
import type { RobotIdentity } from '../identity/callers.ts';
import type { Search } from './provisioning.ts';
import { attributePath, COMMON_ATTRIBUTES, type ResourceSchema, type Schema } from './scim-attributes.ts';
import { isObject, rejected } from './scim-document.ts';
import { SCIM_MEDIA_TYPE } from './scim-error.view.ts';
import { readFilter } from './scim-filter.ts';
import type { Tenant } from './scim-users.ts';

export const LIST_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const SEARCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:SearchRequest';
export const MAX_RESULTS = 200;
const DEFAULT_RESULTS = 100;
const MAX_NAMES = 50;

/** Which attributes the caller wants, in lower case, such as `name.givenname`. */
export interface Selection {
  readonly only: ReadonlySet<string> | undefined;
  readonly without: ReadonlySet<string>;
}

/** What a search asks for, from the query of a GET or from the body of a POST. */
export interface ReadSearch {
  readonly search: Search;
  readonly selection: Selection;
}

type Given = Readonly<Record<string, unknown>>;

export function tenantOf(request: FastifyRequest): Tenant {
  return robotOf(request).organization;
}

/** The organization itself acts, through a robot of its identity provider: it may do whatever can be done there. */
export function provisionerOf(request: FastifyRequest): Actor {
  const { id, organization } = robotOf(request);
  const name = `robot ${id} of ${organization.name} by SCIM`;
  return { id: organization.id, name, requestId: request.id };
}

function robotOf(request: FastifyRequest): RobotIdentity {
  const { robot } = callerOf(request);
  if (!robot) throw new AppError('internal', 'a route for identity providers has no robot');
  return robot;
}

export function sendScim(reply: FastifyReply, body: unknown): FastifyReply {
  return sendScimText(reply, writeJson(body));
}

export function sendScimText(reply: FastifyReply, text: string): FastifyReply {
  return reply
    .header('Content-Type', `${SCIM_MEDIA_TYPE}; charset=utf-8`)
    .serializer((payload: string) => payload)
    .send(text);
}

export function readSearch(given: Given): ReadSearch {
  const filter = oneText(given, 'filter');
  const sortBy = oneText(given, 'sortBy');
  const sortPath = sortBy === undefined ? undefined : attributePath(sortBy);
  if (sortBy !== undefined && (sortPath === undefined || sortPath === 'unkept')) {
    throw rejected(`nothing can be sorted by ${JSON.stringify(sortBy.slice(0, 60))}`, 'invalidPath');
  }
  const order = oneText(given, 'sortOrder')?.toLowerCase() ?? 'ascending';
  if (order !== 'ascending' && order !== 'descending') throw rejected('sortOrder must be ascending or descending');
  const start = Math.max(1, wholeNumber(given, 'startIndex') ?? 1);
  const count = Math.max(0, wholeNumber(given, 'count') ?? DEFAULT_RESULTS);
  return {
    search: {
      filter: filter === undefined ? undefined : readFilter(filter),
      sortBy: sortPath === 'unkept' ? undefined : sortPath,
      isDescending: order === 'descending',
      offset: start - 1,
      limit: Math.min(count, MAX_RESULTS),
    },
    selection: readSelection(given),
  };
}

export function readSearchBody(body: unknown): ReadSearch {
  if (!isObject(body)) throw rejected('the body must be an object', 'invalidSyntax');
  const { schemas } = body;
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.includes(SEARCH_SCHEMA))) {
    throw rejected(`schemas must contain ${SEARCH_SCHEMA}`, 'invalidSyntax');
  }
  return readSearch(body);
}

export function readSelection(given: Given): Selection {
  const only = namesIn(given, 'attributes');
  return { only: only.size === 0 ? undefined : only, without: namesIn(given, 'excludedAttributes') };
}

/** Whether the caller wants this attribute, or a part of it. */
export function wants({ only, without }: Selection, name: string): boolean {
  const key = name.toLowerCase();
  if (only) return [...only].some((one) => one === key || one.startsWith(`${key}.`));
  return !without.has(key);
}

/** What the caller wants of a resource. Its ID and its schemas are always among it. */
export function selected(schema: ResourceSchema, resource: Given, selection: Selection): Record<string, unknown> {
  const { only, without } = selection;
  const result: Record<string, unknown> = {};
  for (const attribute of [...COMMON_ATTRIBUTES, ...schema.attributes]) {
    const { name, returned } = attribute;
    const value = resource[name];
    if (value === undefined) continue;
    if (returned !== 'always' && !wants(selection, name)) continue;
    if (returned === 'request' && !only) continue;
    result[name] = partsOf(name.toLowerCase(), value, only, without);
  }
  const extension = schema.extension && selectedOfExtension(schema.extension, resource, selection);
  return { ...result, ...extension };
}

/** Attributes of an extension are wanted by its ID, or each by its path. */
function selectedOfExtension({ id, attributes }: Schema, resource: Given, { only, without }: Selection): Given {
  const [value, prefix] = [resource[id], id.toLowerCase()];
  if (!isObject(value) || without.has(prefix)) return {};
  const parts: Record<string, unknown> = {};
  for (const { name } of attributes) {
    const path = `${prefix}:${name.toLowerCase()}`;
    const isWanted = only?.has(prefix) || wants({ only, without }, path);
    const part = value[name];
    if (!isWanted || part === undefined) continue;
    parts[name] = only?.has(prefix) ? part : partsOf(path, part, only, without);
  }
  return Object.keys(parts).length === 0 ? {} : { [id]: parts };
}

/** Some parts of a value that has parts, of each one if there are several. */
function partsOf(name: string, value: unknown, only: Selection['only'], without: Selection['without']): unknown {
  const isWhole = only ? only.has(name) : ![...without].some((one) => one.startsWith(`${name}.`));
  if (isWhole || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => partsOf(name, item, only, without));
  const isWanted = (part: string) => {
    const path = `${name}.${part.toLowerCase()}`;
    return only ? only.has(path) : !without.has(path);
  };
  return Object.fromEntries(Object.entries(value).filter(([part]) => isWanted(part)));
}

function namesIn(given: Given, key: string): Set<string> {
  const value = given[key];
  if (value === undefined || value === '') return new Set();
  const names = Array.isArray(value) ? value : [value];
  const texts = names.flatMap((name) => (typeof name === 'string' ? name.split(',', MAX_NAMES + 1) : []));
  if (texts.length > MAX_NAMES) throw rejected(`${key} can name at most ${MAX_NAMES} attributes`);
  return new Set(
    texts.flatMap((text) => {
      const path = attributePath(text.trim());
      if (path === undefined || path === 'unkept') return [];
      return [path.sub === undefined ? path.name : `${path.name}.${path.sub}`];
    }),
  );
}

function oneText(given: Given, key: string): string | undefined {
  const value = given[key];
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value !== 'string') throw rejected(`${key} must be one text`);
  return value;
}

function wholeNumber(given: Given, key: string): number | undefined {
  const value = given[key];
  if (value === undefined || value === null || value === '') return undefined;
  const text = String(value);
  if (!/^-?\d{1,9}$/.test(text)) throw rejected(`${key} must be a whole number`);
  return Number(text);
}

/** Rejects a request whose `If-Match` names another version. Weak and strong tags are compared alike. */
export function requireVersion(request: FastifyRequest, version: string): void {
  const header = request.headers['if-match'];
  if (header === undefined || isAmong(header, version)) return;
  throw new AppError('stale', 'the resource has changed since you read it: read it again');
}

/** Whether the caller has this version already, by its `If-None-Match`. */
export function isKnown(request: FastifyRequest, version: string): boolean {
  const header = request.headers['if-none-match'];
  return header !== undefined && isAmong(header, version);
}

function isAmong(header: string, version: string): boolean {
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => bare(tag) === bare(version));
}

/** The ID in a path. What cannot be an ID is the ID of no user. */
export function idIn(request: FastifyRequest): bigint {
  const { id } = request.params as { id: string };
  if (!/^\d{1,18}$/.test(id)) throw new AppError('notFound', `there is no resource ${JSON.stringify(id.slice(0, 60))}`);
  return BigInt(id);
}
