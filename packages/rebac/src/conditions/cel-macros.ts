import { ACCUMULATOR, CelRejection, call, type Expr, type FoldExpr, literal, name } from './cel-syntax.ts';

/** What the call stands for if it is a macro, or `undefined`. */
export function expandMacro(fn: string, target: Expr | undefined, args: readonly Expr[]): Expr | undefined {
  const [first, second, third] = args;
  if (fn === 'has' && target === undefined && args.length === 1) return presence(first as Expr);
  if (target === undefined || first === undefined || second === undefined || args.length > 3) return;
  if (third !== undefined)
    return fn === 'map' ? fold(target, first, collect(choose(second, collected(third)))) : undefined;
  switch (fn) {
    case 'all':
      return fold(target, first, {
        init: literal(true),
        condition: call('@not_strictly_false', soFar()),
        step: call('_&&_', soFar(), second),
        result: soFar(),
      });
    case 'exists':
      return fold(target, first, {
        init: literal(false),
        condition: call('@not_strictly_false', call('!_', soFar())),
        step: call('_||_', soFar(), second),
        result: soFar(),
      });
    case 'exists_one':
      return fold(target, first, {
        init: literal(0n),
        condition: literal(true),
        step: choose(second, call('_+_', soFar(), literal(1n))),
        result: call('_==_', soFar(), literal(1n)),
      });
    case 'map':
      return fold(target, first, collect(collected(second)));
    case 'filter':
      return fold(target, first, collect(choose(second, collected(first))));
    default:
      return;
  }
}

type FoldParts = Pick<FoldExpr, 'init' | 'condition' | 'step' | 'result'>;

/** A new node each time, because the checker remembers the type of every node. */
function soFar(): Expr {
  return name(ACCUMULATOR);
}

function collect(step: Expr): FoldParts {
  return { init: { kind: 'list', items: [] }, condition: literal(true), step, result: soFar() };
}

function collected(item: Expr): Expr {
  return call('_+_', soFar(), { kind: 'list', items: [item] });
}

function choose(condition: Expr, step: Expr): Expr {
  return call('_?_:_', condition, step, soFar());
}

function fold(range: Expr, variable: Expr, parts: FoldParts): Expr {
  if (variable.kind !== 'name') throw new CelRejection('the first argument of a macro must be a simple name');
  return { kind: 'fold', range, variable: variable.name, ...parts };
}

function presence(operand: Expr): Expr {
  if (operand.kind !== 'select') throw new CelRejection('the argument of has() must select a field');
  return { ...operand, presence: true };
}
