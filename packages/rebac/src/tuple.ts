import type { Condition, Context } from './conditions/condition.ts';
import type { Model } from './model.ts';
import type { RelationDef, TypeDef } from './model-types.ts';
import { numberIn } from './tables/name-table.ts';

export interface Tuple {
  readonly user: string;
  readonly relation: string;
  readonly object: string;
  /** Where the tuple comes from. A source is replaced as a whole; several sources may state the same tuple. */
  readonly source?: string;
  readonly condition?: { readonly name: string; readonly context?: Context | undefined } | undefined;
}

/** The position of a name in a text such as `team:3#member`, and what it names. */
export interface Reference {
  readonly type: TypeDef;
  /** Kind of the object or wildcard. */
  readonly kind: number;
  readonly from: number;
  readonly to: number;
  /** The name as `numberIn` reads it: 0 unless it is a number. */
  readonly number: number;
  /** Kind of the userset, or -1. */
  readonly userset: number;
}

export interface Entry {
  readonly subject: Reference;
  readonly object: Reference;
  readonly relation: number;
  readonly condition: Condition | undefined;
  readonly context: Context | undefined;
}

/** The limits of OpenFGA: a user in bytes, an object in characters. */
const MAX_USER_BYTES = 512;
const MAX_OBJECT = 256;

/** Reads `type:id`, `type:*` or `type:id#relation`. A returned string says what is wrong with the text. */
export function readReference(model: Model, text: string): Reference | string {
  const colon = text.indexOf(':');
  if (colon < 1) return `'${text}' is not of the form type:id`;
  const type = typeAt(model, text, colon);
  if (type === undefined) return `type '${text.slice(0, colon)}' is not in the model`;
  const number = numberIn(text, colon + 1, text.length);
  // A short number is all there is, which is by far the most frequent case.
  if (number !== 0) return { type, kind: type.index, from: colon + 1, to: text.length, number, userset: -1 };
  return readName(model, type, text, colon);
}

function readName(model: Model, type: TypeDef, text: string, colon: number): Reference | string {
  const hash = text.indexOf('#', colon);
  const to = hash === -1 ? text.length : hash;
  if (to === colon + 1 || !isPlain(text, colon + 1, to)) return `'${text}' has no valid id`;
  if (text.length * 3 > MAX_USER_BYTES && Buffer.byteLength(text) > MAX_USER_BYTES)
    return `'${text}' is longer than ${MAX_USER_BYTES} bytes`;
  const wildcard = to === colon + 2 && text.charCodeAt(colon + 1) === 42;
  const kind = wildcard ? model.types.length + type.index : type.index;
  const number = numberIn(text, colon + 1, to);
  if (hash === -1) return { type, kind, from: colon + 1, to, number, userset: -1 };
  const relation = type.relationIndex.get(text.slice(hash + 1));
  if (wildcard || relation === undefined) return `'${text}' names no relation of type '${type.name}'`;
  return { type, kind, from: colon + 1, to, number, userset: type.firstUserset + relation };
}

/** Models have few types: comparing their names is faster than creating a string to look one up. */
function typeAt({ types }: Model, text: string, colon: number): TypeDef | undefined {
  for (let i = 0; i < types.length; i++) {
    const type = types[i] as TypeDef;
    if (type.name.length === colon && text.startsWith(type.name)) return type;
  }
  return;
}

/** Reads an object, which is neither a wildcard nor a userset. */
export function readObject(model: Model, text: string): Reference | string {
  const read = readReference(model, text);
  if (typeof read === 'string') return read;
  if (text.length > MAX_OBJECT && [...text].length > MAX_OBJECT)
    return `'${text}' is longer than ${MAX_OBJECT} characters`;
  return read.userset !== -1 || read.kind !== read.type.index ? `'${text}' is not an object` : read;
}

/** The entry for a tuple, or why the model does not admit it. */
export function admit(model: Model, tuple: Tuple): Entry | string {
  return new TupleReader(model).read(tuple);
}

/**
 * Reads tuples one after the other. A tuple usually shares a part with the one before, so the last results are kept.
 */
export class TupleReader {
  readonly #model: Model;
  #objectText = '';
  #object: Reference | string = 'nothing read yet';
  #userText = '';
  #user: Reference | string = 'nothing read yet';
  #relation: RelationDef | undefined;

  constructor(model: Model) {
    this.#model = model;
  }

  read(tuple: Tuple): Entry | string {
    const model = this.#model;
    if (tuple.object !== this.#objectText) {
      this.#objectText = tuple.object;
      this.#object = readObject(model, tuple.object);
    }
    const object = this.#object;
    if (typeof object === 'string') return object;
    const relation = this.#relationOf(object.type, tuple.relation);
    if (relation === undefined) return `type '${object.type.name}' has no relation '${tuple.relation}'`;
    if (tuple.user !== this.#userText) {
      this.#userText = tuple.user;
      this.#user = readReference(model, tuple.user);
    }
    const subject = this.#user;
    if (typeof subject === 'string') return subject;
    if (subject.userset !== -1 && tuple.user === `${tuple.object}#${tuple.relation}`)
      return `'${tuple.user}' is in itself without a tuple`;
    const allowed = relation.admits.get(subject.userset === -1 ? subject.kind : subject.userset);
    if (allowed === undefined) return `'${tuple.user}' may not be ${tuple.relation} of '${object.type.name}'`;
    if (!allowed.has(tuple.condition?.name || undefined)) return `condition does not match '${tuple.relation}'`;
    const condition = tuple.condition?.name ? model.conditions.get(tuple.condition.name) : undefined;
    if (tuple.condition?.name && condition === undefined) return `condition '${tuple.condition.name}' is not defined`;
    const context = tuple.condition?.context ?? undefined;
    const fault = context && condition?.faultOf(context);
    if (fault) return fault;
    return { subject, object, relation: relation.index, condition, context };
  }

  #relationOf(type: TypeDef, name: string): RelationDef | undefined {
    const last = this.#relation;
    if (last?.name === name && type.relations[last.index] === last) return last;
    this.#relation = type.relations[type.relationIndex.get(name) ?? -1];
    return this.#relation;
  }
}

/** Contains neither a separator nor a space nor a control character. Like OpenFGA, it accepts any other white space. */
function isPlain(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const unit = text.charCodeAt(i);
    if (unit <= 32 || unit === 35 || unit === 58 || (unit >= 0x7f && unit <= 0x9f)) return false;
  }
  return true;
}
