import { attributeIn, isExtension, isOfExtension, type ResourceSchema } from './scim-attributes.ts';
import { isObject, isSame, partsOfExtension, rejected } from './scim-document.ts';
import { type Filter, readTarget } from './scim-filter.ts';

type Found = NonNullable<ReturnType<typeof attributeIn>>;

/** One thing that a PATCH does, to one attribute. */
export interface Operation extends Found {
  readonly op: 'add' | 'remove' | 'replace';
  readonly filter: Filter | undefined;
  readonly value: unknown;
}

const PATCH_SCHEMA = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';
export const MAX_OPERATIONS = 200;

/**
 * The operations of a PATCH (RFC 7644, section 3.5.2), also in the dialects of Entra ID and Okta: names of operations in
 * any case, no path and an object whose keys are paths. Operations on attributes that are not kept are left out.
 */
export function readOperations(schema: ResourceSchema, body: unknown): Operation[] {
  if (!isObject(body)) throw rejected('the body must be an object', 'invalidSyntax');
  const { schemas } = body;
  if (schemas !== undefined && !(Array.isArray(schemas) && schemas.some((one) => isSame(one, PATCH_SCHEMA)))) {
    throw rejected(`schemas must contain ${PATCH_SCHEMA}`, 'invalidSyntax');
  }
  const listed = body.Operations ?? body.operations;
  if (!Array.isArray(listed) || listed.length === 0) throw rejected('Operations must be a list', 'invalidSyntax');
  if (listed.length > MAX_OPERATIONS) {
    throw rejected(`a request can have at most ${MAX_OPERATIONS} operations`, 'tooMany');
  }
  const operations = listed.flatMap((one) => operationsOf(schema, one));
  if (operations.length > MAX_OPERATIONS) throw rejected('the request has too many operations', 'tooMany');
  return operations;
}

function operationsOf(schema: ResourceSchema, given: unknown): Operation[] {
  if (!isObject(given)) throw rejected('an operation must be an object', 'invalidSyntax');
  const op = typeof given.op === 'string' ? given.op.toLowerCase() : undefined;
  if (op !== 'add' && op !== 'remove' && op !== 'replace') {
    throw rejected('op must be add, remove or replace', 'invalidSyntax');
  }
  const { path, value } = given;
  if (path !== undefined && path !== null && path !== '') {
    if (typeof path !== 'string') throw rejected('path must be a text', 'invalidPath');
    return operationAt(schema, op, path, value);
  }
  if (op === 'remove') throw rejected('remove needs a path', 'noTarget');
  if (!isObject(value)) throw rejected('without a path, value must be an object', 'invalidValue');
  return Object.entries(value).flatMap(([key, one]) =>
    // Some providers repeat what the resource is. A client cannot change that.
    isSame('schemas', key) || isSame('id', key) || isSame('meta', key) ? [] : operationAt(schema, op, key, one),
  );
}

function operationAt(schema: ResourceSchema, op: Operation['op'], text: string, value: unknown): Operation[] {
  const target = readTarget(text);
  if (target === 'unkept' || (isOfExtension(target.path) && !schema.extension)) return [];
  if (isExtension(target.path)) return operationsOfExtension(schema, op, text, value);
  const found = attributeIn(schema, target.path);
  if (!found) throw rejected(`there is no attribute ${JSON.stringify(text.slice(0, 60))}`, 'invalidPath');
  const { attribute, sub } = found;
  if (attribute.mutability === 'readOnly' || sub?.mutability === 'readOnly') {
    throw rejected(`${attribute.name} is read-only`, 'mutability');
  }
  if (target.filter && !attribute.multiValued) {
    throw rejected(`${attribute.name} is no list, so it has no filter`, 'invalidPath');
  }
  if (op !== 'remove' && value === undefined) throw rejected(`${op} needs a value`, 'invalidValue');
  return [{ op, attribute, sub, filter: target.filter, value }];
}

/** One operation for each attribute. A value that is null, or none, removes all of them. */
function operationsOfExtension(schema: ResourceSchema, op: Operation['op'], text: string, value: unknown): Operation[] {
  if (op !== 'remove' && isObject(value)) {
    return partsOfExtension([text, value]).flatMap(([path, part]) => operationAt(schema, op, path, part));
  }
  if (op !== 'remove' && value !== null) throw rejected(`${text} must be an object`, 'invalidValue');
  const attributes = schema.extension?.attributes ?? [];
  return attributes.flatMap(({ name }) => operationAt(schema, 'remove', `${text}:${name}`, undefined));
}
