import { AppError, type ScimType } from '../base/errors.ts';
import { type Attribute, attributeIn, attributePath, isExtension, type ResourceSchema } from './scim-attributes.ts';

/** A resource as JSON, with the attributes that are kept, by the names that the schema gives them. */
export type Document = Record<string, unknown>;

export const MAX_TEXT = 255;
/** In one request. A provider with more to say sends several. */
export const MAX_MEMBERS = 1000;
/** Of any other list. */
const MAX_VALUES = 20;

/** Rejects what a request says, in the words of SCIM. */
export function rejected(message: string, scimType: ScimType = 'invalidValue'): AppError {
  return new AppError('invalid', message, { scimType });
}

/** The body of POST and PUT. Attributes that are not kept, or that clients cannot write, are ignored. */
export function readDocument(schema: ResourceSchema, body: unknown): Document {
  if (!isObject(body)) throw rejected('the body must be an object', 'invalidSyntax');
  const { schemas } = body;
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.some((one) => isSame(one, schema.id)))) {
    throw rejected(`schemas must contain ${schema.id}`, 'invalidSyntax');
  }
  const document: Document = {};
  for (const [key, value] of Object.entries(body).flatMap(partsOfExtension)) {
    const path = attributePath(key);
    if (path === undefined || path === 'unkept' || path.sub !== undefined) continue;
    const found = attributeIn(schema, path);
    if (!found || found.attribute.mutability === 'readOnly') continue;
    const { name } = found.attribute;
    if (name in document) throw rejected(`${name} is given twice`, 'invalidSyntax');
    const read = readValue(found.attribute, value);
    if (read !== undefined) document[name] = read;
  }
  return document;
}

/** Names each attribute of an extension by its path. The document has them next to the others. */
export function partsOfExtension([key, value]: readonly [string, unknown]): (readonly [string, unknown])[] {
  const path = attributePath(key);
  if (path === undefined || path === 'unkept' || !isExtension(path)) return [[key, value]];
  if (value === null || value === undefined) return [];
  if (!isObject(value)) throw rejected(`${key} must be an object`, 'invalidSyntax');
  return Object.entries(value).map(([name, part]) => [`${key}:${name}`, part]);
}

/** A value of an attribute, or undefined if it is given as unassigned. */
export function readValue(attribute: Attribute, value: unknown): unknown {
  if (!attribute.multiValued) return readOne(attribute, value);
  if (value === null || value === undefined) return undefined;
  const items = Array.isArray(value) ? value : [value];
  requireFew(attribute, items.length);
  return items.map((item) => readOne(attribute, item)).filter((item) => item !== undefined);
}

export function requireFew({ name }: Attribute, count: number): void {
  const max = name === 'members' ? MAX_MEMBERS : MAX_VALUES;
  if (count > max) throw rejected(`${name} can have at most ${max} values in one request`, 'tooMany');
}

/** One value of an attribute, also of one that has several. */
export function readOne(attribute: Attribute, value: unknown): unknown {
  if (value === null || value === undefined) return undefined;
  const { name, type } = attribute;
  if (type === 'complex') return readComplex(attribute, value);
  if (type === 'boolean') return readBoolean(name, value);
  if (typeof value !== 'string') throw rejected(`${name} must be a text`);
  if (value.length > MAX_TEXT) throw rejected(`${name} must have at most ${MAX_TEXT} characters`);
  return value;
}

function readComplex(attribute: Attribute, value: unknown): Document | undefined {
  const given = asObject(attribute, value);
  if (given === undefined) return undefined;
  if (!isObject(given)) throw rejected(`${attribute.name} must be an object`);
  const parts: Document = {};
  for (const [key, item] of Object.entries(given)) {
    const part = attribute.subAttributes?.find((one) => isSame(one.name, key));
    const read = part && readOne(part, item);
    if (part && read !== undefined) parts[part.name] = read;
  }
  return Object.keys(parts).length === 0 ? undefined : parts;
}

/** Some providers send a value in place of the object that has it, or a list of one object. */
function asObject({ multiValued, subAttributes }: Attribute, value: unknown): unknown {
  const given = !multiValued && Array.isArray(value) && value.length <= 1 ? value[0] : value;
  if (typeof given !== 'string' || !subAttributes?.some(({ name }) => name === 'value')) return given;
  return given === '' ? undefined : { value: given };
}

/** Entra ID sends `"False"`. */
function readBoolean(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value.toLowerCase() : '';
  if (text !== 'true' && text !== 'false') throw rejected(`${name} must be true or false`);
  return text === 'true';
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isSame(one: unknown, other: string): boolean {
  return typeof one === 'string' && one.toLowerCase() === other.toLowerCase();
}
