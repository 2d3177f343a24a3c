import { type Document, isObject, isSame, readOne, readValue, rejected, requireFew } from './scim-document.ts';
import type { Comparison, Filter, FilterValue } from './scim-filter.ts';
import type { Operation } from './scim-operations.ts';

/** What is left of a document after the operations. The document itself stays as it is. */
export function patched(document: Document, operations: readonly Operation[]): Document {
  const result = structuredClone(document);
  for (const operation of operations) {
    const { attribute } = operation;
    if (!attribute.multiValued) patchOne(result, operation);
    else {
      patchList(result, operation);
      requireFew(attribute, (result[attribute.name] as readonly unknown[]).length);
    }
  }
  return result;
}

function patchOne(document: Document, { op, attribute, sub, value }: Operation): void {
  const { name } = attribute;
  if (!sub) {
    const read = op === 'remove' ? undefined : readValue(attribute, value);
    const before = document[name];
    const isMerged = isObject(read) && isObject(before) && !isAnother(before, read.value);
    assign(document, name, isMerged ? { ...before, ...read } : read);
    return;
  }
  const before = document[name];
  const isKept = isObject(before) && !(sub.name === 'value' && isAnother(before, value));
  const whole: Document = isKept ? { ...before } : {};
  assign(whole, sub.name, op === 'remove' ? undefined : readOne(sub, value));
  assign(document, name, Object.keys(whole).length === 0 ? undefined : whole);
}

/** The name of one manager is not that of another. */
function isAnother(before: Document, value: unknown): boolean {
  return before.value !== undefined && value !== undefined && before.value !== value;
}

function patchList(document: Document, operation: Operation): void {
  const { op, attribute, sub, filter, value } = operation;
  const { name } = attribute;
  const items = (Array.isArray(document[name]) ? document[name] : []) as Document[];
  if (!sub && !filter) {
    const given = (op === 'remove' && value === undefined ? [] : (readValue(attribute, value) ?? [])) as Document[];
    if (op === 'replace') assign(document, name, given);
    else if (op === 'add') assign(document, name, joined(items, given));
    // With values, some providers mean these values and not the whole list.
    else assign(document, name, given.length === 0 ? [] : items.filter((item) => !given.some(isSameValue(item))));
    return;
  }
  const isMeant = (item: Document) => filter === undefined || fulfils(item, filter);
  if (op === 'remove') {
    const left = sub
      ? items.map((item) => (isMeant(item) ? without(item, sub.name) : item))
      : items.filter((one) => !isMeant(one));
    assign(document, name, left);
    return;
  }
  const change = (sub ? { [sub.name]: readOne(sub, value) } : readOne(attribute, value)) as Document | undefined;
  if (!change) throw rejected(`${name} needs a value`);
  const isThere = items.some(isMeant);
  if (!isThere) {
    // Providers replace an address that is not there yet, and mean that it should be.
    assign(document, name, joined(items, [ranked(items, { ...impliedBy(filter), ...change })]));
    return;
  }
  const next = items.map((item) => (isMeant(item) ? { ...item, ...change } : item));
  assign(
    document,
    name,
    change.primary === true ? next.map((item) => ({ ...item, primary: item.primary === true && isMeant(item) })) : next,
  );
}

/** One address of a person is kept: the one at work, if a provider sets it, rather than one of another type. */
function ranked(items: readonly Document[], added: Document): Document {
  const isRanked = isSame(added.type, 'work') && added.primary === undefined && items.some(({ primary }) => primary);
  return isRanked ? { ...added, primary: true } : added;
}

/** A new value that is primary makes the others not primary (RFC 7644, section 3.5.2). */
function joined(items: readonly Document[], given: readonly Document[]): Document[] {
  const added = given.filter((one) => !items.some(isSameValue(one)));
  const kept = added.some(({ primary }) => primary === true)
    ? items.map((item) => ({ ...item, primary: false }))
    : items;
  return [...kept, ...added];
}

function isSameValue(one: Document) {
  return (other: Document) => typeof one.value === 'string' && isSame(other.value, one.value);
}

/** What a value must have to fulfil a filter of plain equalities, such as `type eq "work"`. */
function impliedBy(filter: Filter | undefined): Document {
  if (filter?.kind === 'and') return Object.assign({}, ...filter.of.map(impliedBy)) as Document;
  if (filter?.kind === 'compare' && filter.op === 'eq' && filter.value !== null)
    return { [filter.path.name]: filter.value };
  if (filter === undefined) return {};
  throw rejected('no value fulfils the filter of the path', 'noTarget');
}

/** Whether one value of a list fulfils a filter about its parts. */
function fulfils(item: Document, filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.of.every((one) => fulfils(item, one));
    case 'or':
      return filter.of.some((one) => fulfils(item, one));
    case 'not':
      return !fulfils(item, filter.of);
    case 'present':
      return partOf(item, filter.path.name) !== undefined;
    case 'compare':
      return compares(partOf(item, filter.path.name), filter.op, filter.value);
    case 'some':
      throw rejected('the parts of a value are no lists', 'invalidPath');
  }
}

function partOf(item: Document, name: string): unknown {
  return Object.entries(item).find(([key]) => isSame(key, name))?.[1];
}

function compares(present: unknown, op: Comparison, value: FilterValue): boolean {
  const one = present === undefined ? null : typeof present === 'string' ? present.toLowerCase() : present;
  const other = typeof value === 'string' ? value.toLowerCase() : value;
  if (op === 'eq') return one === other || String(one) === String(other);
  if (op === 'ne') return one !== other && String(one) !== String(other);
  if (typeof one !== 'string' || typeof other !== 'string') return false;
  if (op === 'co') return one.includes(other);
  if (op === 'sw') return one.startsWith(other);
  if (op === 'ew') return one.endsWith(other);
  if (op === 'gt' || op === 'ge') return one > other || (op === 'ge' && one === other);
  return one < other || (op === 'le' && one === other);
}

function without(item: Document, name: string): Document {
  const { [name]: _, ...rest } = item;
  return rest;
}

function assign(document: Document, name: string, value: unknown): void {
  if (value === undefined) delete document[name];
  else document[name] = value;
}
