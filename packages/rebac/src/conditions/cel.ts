import type { ParameterTypeJson } from '../syntax.ts';
import { checkTypes } from './cel-checker.ts';
import { parseCel } from './cel-parser.ts';
import { compileCel, type Program } from './cel-program.ts';
import { celTypeOf } from './condition-types.ts';

export { Run } from './cel-cost.ts';
export { cast } from './condition-types.ts';

/**
 * Reads, checks and compiles an expression of the Common Expression Language, in the dialect of OpenFGA: what cel-go
 * accepts in its standard environment, with IP addresses. Throws a CelRejection.
 */
export function compileCelExpression(
  expression: string,
  parameters: readonly (readonly [name: string, type: ParameterTypeJson])[],
): Program {
  const types = new Map(parameters.map(([name, type]) => [name, celTypeOf(type)]));
  const expr = parseCel(expression);
  return compileCel(expr, checkTypes(expr, types), types.keys());
}
