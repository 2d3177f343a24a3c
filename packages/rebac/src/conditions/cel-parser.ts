import { type CelToken, readInt, tokenize } from './cel-lexer.ts';
import { expandMacro } from './cel-macros.ts';
import { CelRejection, call, type Expr, literal, name } from './cel-syntax.ts';
import { lengthOf } from './cel-values.ts';

const MAX_LENGTH = 100_000;
const MAX_DEPTH = 250;
/** All operators of one line bind equally strongly and to the left, `==` no less than `<`. */
const RELATIONS: ReadonlySet<string> = new Set(['<', '<=', '>=', '>', '==', '!=', 'in']);
const SUMS: ReadonlySet<string> = new Set(['+', '-']);
const PRODUCTS: ReadonlySet<string> = new Set(['*', '/', '%']);
const RESERVED: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** Reads an expression by the grammar of cel-go. Throws a CelRejection. */
export function parseCel(source: string): Expr {
  if (!source.isWellFormed()) throw new CelRejection('not well-formed Unicode');
  if (lengthOf(source) > MAX_LENGTH) throw new CelRejection(`longer than ${MAX_LENGTH} characters`);
  return new Parser(tokenize(source)).parse();
}

class Parser {
  readonly #tokens: readonly CelToken[];
  readonly #depths = new WeakMap<Expr, number>();
  #next = 0;
  #nesting = 0;

  constructor(tokens: readonly CelToken[]) {
    this.#tokens = tokens;
  }

  parse(): Expr {
    const expr = this.#expr();
    if (this.#peek().kind !== 'end') throw this.#unexpected();
    return expr;
  }

  #expr(): Expr {
    if (++this.#nesting > MAX_DEPTH) throw new CelRejection('nested too deeply');
    const first = this.#or();
    let expr = first;
    if (this.#take('?')) {
      const truthy = this.#or();
      this.#expect(':');
      const falsy = this.#expr();
      expr = this.#bound(call('_?_:_', first, truthy, falsy), first, truthy, falsy);
    }
    this.#nesting--;
    return expr;
  }

  #or(): Expr {
    const terms = [this.#and()];
    while (this.#take('||')) terms.push(this.#and());
    return terms.length === 1 ? (terms[0] as Expr) : this.#bound(call('_||_', ...terms), ...terms);
  }

  #and(): Expr {
    const terms = [this.#binary(RELATIONS)];
    while (this.#take('&&')) terms.push(this.#binary(RELATIONS));
    return terms.length === 1 ? (terms[0] as Expr) : this.#bound(call('_&&_', ...terms), ...terms);
  }

  #binary(operators: ReadonlySet<string>): Expr {
    const operand = (): Expr => {
      if (operators === RELATIONS) return this.#binary(SUMS);
      return operators === SUMS ? this.#binary(PRODUCTS) : this.#unary();
    };
    let left = operand();
    for (;;) {
      const { kind, text } = this.#peek();
      if (kind !== 'operator' || !operators.has(text)) return left;
      this.#next++;
      const right = operand();
      left = this.#bound(call(text === 'in' ? '@in' : `_${text}_`, left, right), left, right);
    }
  }

  /** An even number of signs is none: `!!x` is x. The sign before a single number is part of the number. */
  #unary(): Expr {
    for (const sign of ['!', '-']) {
      let count = 0;
      if (sign === '-' && this.#isSignedNumber()) return this.#member();
      while (this.#take(sign)) count++;
      if (count === 0) continue;
      const operand = this.#member();
      return count % 2 === 0 ? operand : this.#bound(call(`${sign}_`, operand), operand);
    }
    return this.#member();
  }

  #isSignedNumber(): boolean {
    const [sign, number] = [this.#peek(), this.#tokens[this.#next + 1]];
    if (sign.kind !== 'operator' || sign.text !== '-') return false;
    return number?.kind === 'int' || (number?.kind === 'literal' && typeof number.value === 'number');
  }

  #member(): Expr {
    let expr = this.#primary();
    for (;;) {
      if (this.#take('.')) {
        const field = this.#name();
        if (this.#take('(')) expr = this.#callOf(field, expr, this.#list(')', false));
        else expr = this.#bound({ kind: 'select', operand: expr, field, presence: false }, expr);
      } else if (this.#take('[')) {
        const index = this.#expr();
        this.#expect(']');
        expr = this.#bound(call('_[_]', expr, index), expr, index);
      } else {
        return expr;
      }
    }
  }

  #primary(): Expr {
    const token = this.#peek();
    this.#next++;
    if (token.kind === 'literal') return literal(token.value);
    if (token.kind === 'int') return literal(readInt('', token.text));
    if (token.kind === 'name') {
      if (RESERVED.has(token.text) || token.text === '__result__')
        throw new CelRejection(`reserved name ${token.text}`);
      return this.#take('(') ? this.#callOf(token.text, undefined, this.#list(')', false)) : name(token.text);
    }
    if (token.text === '-') return this.#negative();
    if (token.text === '(') {
      const expr = this.#expr();
      this.#expect(')');
      return expr;
    }
    if (token.text === '[') {
      const items = this.#list(']', true);
      return this.#bound({ kind: 'list', items }, ...items);
    }
    if (token.text === '{') return this.#map();
    this.#next--;
    throw this.#unexpected();
  }

  #negative(): Expr {
    const { kind, text, value } = this.#peek();
    if (kind !== 'int' && typeof value !== 'number') throw this.#unexpected();
    this.#next++;
    return literal(kind === 'int' ? readInt('-', text) : -(value as number));
  }

  #map(): Expr {
    const entries: (readonly [Expr, Expr])[] = [];
    while (!this.#take('}')) {
      const key = this.#expr();
      this.#expect(':');
      entries.push([key, this.#expr()]);
      if (!this.#take(',') && this.#peek().text !== '}') throw this.#unexpected();
    }
    return this.#bound({ kind: 'map', entries }, ...entries.flat());
  }

  #list(end: string, trailing: boolean): Expr[] {
    const items: Expr[] = [];
    if (this.#take(end)) return items;
    for (;;) {
      items.push(this.#expr());
      if (this.#take(end)) return items;
      this.#expect(',');
      if (trailing && this.#take(end)) return items;
    }
  }

  #callOf(fn: string, target: Expr | undefined, args: readonly Expr[]): Expr {
    const parts = target === undefined ? args : [target, ...args];
    return this.#bound(expandMacro(fn, target, args) ?? { kind: 'call', fn, target, args }, ...parts);
  }

  /** Bounds the depth of the tree, and with it the recursion of everything that walks it. */
  #bound(expr: Expr, ...parts: readonly Expr[]): Expr {
    const depth = 1 + Math.max(0, ...parts.map((part) => this.#depths.get(part) ?? 1));
    if (depth > MAX_DEPTH) throw new CelRejection('nested too deeply');
    this.#depths.set(expr, depth);
    return expr;
  }

  #name(): string {
    const { kind, text } = this.#peek();
    if (kind !== 'name') throw this.#unexpected();
    this.#next++;
    return text;
  }

  #peek(): CelToken {
    return this.#tokens[this.#next] as CelToken;
  }

  #take(operator: string): boolean {
    const { kind, text } = this.#peek();
    if (kind !== 'operator' || text !== operator) return false;
    this.#next++;
    return true;
  }

  #expect(operator: string): void {
    if (!this.#take(operator)) throw this.#unexpected();
  }

  #unexpected(): CelRejection {
    const { text, at } = this.#peek();
    return new CelRejection(`unexpected ${text} at position ${at + 1}`);
  }
}
