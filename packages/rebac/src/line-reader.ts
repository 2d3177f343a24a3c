import type { Model } from './model.ts';
import type { TypeDef } from './model-types.ts';
import { type Entry, type Tuple, TupleReader } from './tuple.ts';

/** What lines have in common that differ only in the numbers of the object and of the user. */
export interface Shape {
  /** As bytes. For example `team:`, ` member user:` and an empty text, or ` assignee team:` and `#member`. */
  readonly before: Uint8Array;
  readonly between: Uint8Array;
  readonly after: Uint8Array;
  readonly type: TypeDef;
  readonly subjectKind: number;
  readonly userset: number;
  readonly relation: number;
}

const NEWLINE = 10;
const SPACE = 32;
const COMMA = 44;
const ZERO = 48;
/** A longer number is read as a text, see `numberIn`. */
const MAX_DIGITS = 9;

/**
 * Reads lines of the form `object relation user source`, such as `team:3 member user:7 team:3`. A line may list several
 * users, as `user:7,8,9` or `team:4,5#member`, and is read as one tuple for each.
 *
 * Thousands of tuples come together when a graph is loaded, and most are like earlier ones, except for their numbers.
 * Whether the model admits them has been decided then, so what is left is comparing bytes and adding up digits: no
 * string is created. All other lines are read as tuples (tuple.ts), and are the example for those that follow.
 */
export class LineReader {
  readonly #bytes: Buffer;
  readonly #reader: TupleReader;
  /** By relation: the latest shape. The shape of the line before is tried first. */
  readonly #shapes = new Map<string, Shape>();
  #shape: Shape | undefined;
  #at = 0;
  #source: Uint8Array = new Uint8Array(0);
  /** What else the line states: if it has a shape, the numbers of more users, and otherwise more tuples. */
  readonly #numbers: number[] = [];
  #tuples: Tuple[] = [];
  /** How much of that has been read. */
  #taken = 0;
  /** The shape of the tuple, and its numbers as `numberIn` returns them. */
  shape: Shape | undefined;
  object = 0;
  subject = 0;
  /** Without a shape: the tuple itself, if the model admits it. */
  tuple: Tuple | undefined;
  entry: Entry | undefined;
  source = '';

  constructor(model: Model, text: string) {
    this.#reader = new TupleReader(model);
    this.#bytes = Buffer.from(text);
  }

  /** Reads the next tuple. Returns false if there is none. */
  next(): boolean {
    if (this.#taken < this.#numbers.length) {
      this.subject = this.#numbers[this.#taken++] as number;
      return true;
    }
    if (this.#taken < this.#tuples.length) {
      this.#readTuple(this.#tuples[this.#taken++] as Tuple);
      return true;
    }
    const from = this.#at;
    if (from >= this.#bytes.length) return false;
    this.#taken = 0;
    this.#tuples.length = 0;
    if (!this.#follows(this.#shape, from)) this.#readAnew(from);
    this.#readSource();
    return true;
  }

  /** Whether the line has this shape. If so, its numbers are known. */
  #follows(shape: Shape | undefined, from: number): boolean {
    if (shape === undefined || !this.#skip(shape.before, from)) return false;
    this.object = this.#number();
    if (this.object === 0 || !this.#skip(shape.between, this.#at)) return false;
    this.subject = this.#number();
    if (this.subject === 0 || !this.#readList() || !this.#skip(shape.after, this.#at)) return false;
    if (this.#bytes[this.#at] !== SPACE) return false;
    this.shape = shape;
    return true;
  }

  /** Whether the users after the first one, if there are any, are plain numbers too. If so, they are read. */
  #readList(): boolean {
    const numbers = this.#numbers;
    numbers.length = 0;
    while (this.#bytes[this.#at] === COMMA) {
      this.#at++;
      const number = this.#number();
      if (number === 0) return false;
      numbers.push(number);
    }
    return true;
  }

  #readAnew(from: number): void {
    const object = this.#bytes.indexOf(SPACE, from);
    const relation = this.#bytes.indexOf(SPACE, object + 1);
    const name = this.#text(object + 1, relation);
    const known = this.#shapes.get(name);
    if (known !== this.#shape && this.#follows(known, from)) {
      this.#shape = known;
      return;
    }
    this.#numbers.length = 0;
    this.#at = this.#bytes.indexOf(SPACE, relation + 1);
    const [first = '', ...others] = usersIn(this.#text(relation + 1, this.#at));
    const tuple = { object: this.#text(from, object), relation: name, user: first };
    this.#tuples = others.map((user) => ({ ...tuple, user }));
    this.#readTuple(tuple);
  }

  #readTuple(tuple: Tuple): void {
    const entry = this.#reader.read(tuple);
    this.shape = undefined;
    this.tuple = tuple;
    this.entry = typeof entry === 'string' ? undefined : entry;
    if (this.entry) this.#remember(tuple, this.entry);
  }

  #remember(tuple: Tuple, { object, subject, relation }: Entry): void {
    const { type } = object;
    // A userset in itself is rejected, although its relation admits it. Lines about such a relation are read one by one.
    const isOwn = subject.userset === type.firstUserset + relation;
    if (object.number === 0 || subject.number === 0 || isOwn) return;
    const shape = {
      before: Buffer.from(`${type.name}:`),
      between: Buffer.from(` ${tuple.relation} ${subject.type.name}:`),
      after: Buffer.from(tuple.user.slice(subject.to)),
      ...{ type, subjectKind: subject.kind, userset: subject.userset, relation },
    };
    this.#shape = shape;
    this.#shapes.set(tuple.relation, shape);
  }

  #skip(part: Uint8Array, from: number): boolean {
    const bytes = this.#bytes;
    for (let i = 0; i < part.length; i++) if (bytes[from + i] !== part[i]) return false;
    this.#at = from + part.length;
    return true;
  }

  /** As `numberIn` reads it: 0 unless it is a plain number. */
  #number(): number {
    const bytes = this.#bytes;
    const from = this.#at;
    let value = 0;
    let at = from;
    for (; at < bytes.length; at++) {
      const digit = (bytes[at] as number) - ZERO;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
    }
    this.#at = at;
    if (at === from || at - from > MAX_DIGITS || (bytes[from] === ZERO && at - from > 1)) return 0;
    return -value - 1;
  }

  #readSource(): void {
    const from = this.#at + 1;
    const bytes = this.#bytes;
    if (!this.#skip(this.#source, from) || (this.#at < bytes.length && bytes[this.#at] !== NEWLINE)) {
      const end = bytes.indexOf(NEWLINE, from);
      this.#at = end === -1 ? bytes.length : end;
      this.#source = bytes.subarray(from, this.#at);
      this.source = this.#text(from, this.#at);
    }
    this.#at++;
  }

  #text(from: number, to: number): string {
    return this.#bytes.toString('utf8', from, to);
  }
}

/** The users that a line lists: of `team:4,5#member`, these are `team:4#member` and `team:5#member`. */
export function usersIn(text: string): string[] {
  if (!text.includes(',')) return [text];
  const colon = text.indexOf(':') + 1;
  const hash = text.indexOf('#');
  const end = hash === -1 ? text.length : hash;
  const ids = text.slice(colon, end).split(',');
  return ids.map((id) => text.slice(0, colon) + id + text.slice(end));
}
