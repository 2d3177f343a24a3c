import type { Value } from './cel-values.ts';

/** An expression after parsing. Macros are already replaced by the folds that they stand for, as in cel-go. */
export type Expr =
  | { readonly kind: 'literal'; readonly value: Value }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'select'; readonly operand: Expr; readonly field: string; readonly presence: boolean }
  | { readonly kind: 'call'; readonly fn: string; readonly target: Expr | undefined; readonly args: readonly Expr[] }
  | { readonly kind: 'list'; readonly items: readonly Expr[] }
  | { readonly kind: 'map'; readonly entries: readonly (readonly [key: Expr, value: Expr])[] }
  | FoldExpr;

/**
 * The accumulator starts with `init`. For every element of the range, as long as `condition` is not false, it becomes
 * the value of `step`. The fold has the value of `result`.
 */
export interface FoldExpr {
  readonly kind: 'fold';
  readonly range: Expr;
  readonly variable: string;
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

/** The name of every accumulator. No expression can write it. */
export const ACCUMULATOR = '@result';

/** The expression is not accepted, so the model that contains it is not. */
export class CelRejection extends Error {}

export function literal(value: Value): Expr {
  return { kind: 'literal', value };
}

export function name(text: string): Expr {
  return { kind: 'name', name: text };
}

export function call(fn: string, ...args: readonly Expr[]): Expr {
  return { kind: 'call', fn, target: undefined, args };
}
