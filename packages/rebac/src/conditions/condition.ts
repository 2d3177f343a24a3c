import { RebacError } from '../rebac-error.ts';
import type { ConditionJson } from '../syntax.ts';
import type { Program } from './cel-program.ts';
import type { Value } from './cel-values.ts';
import { contextFault } from './context.ts';

export type Context = Readonly<Record<string, unknown>>;

/** A condition of the model, ready to be evaluated. `holds` throws a RebacError if OpenFGA would answer 2000. */
export interface Condition {
  readonly name: string;
  /** Why this context cannot be stored on a tuple, or `undefined` if it can. */
  faultOf(context: Context): string | undefined;
  holds(tupleContext: Context | undefined, requestContext: Context | undefined): boolean;
}

/** CEL is loaded only for models that have conditions. */
export async function compileConditions(all: readonly ConditionJson[]): Promise<Map<string, Condition>> {
  const compiled = new Map<string, Condition>();
  if (all.length === 0) return compiled;
  const cel = await import('./cel.ts');
  for (const json of all) compiled.set(json.name, compile(json, cel));
  return compiled;
}

type Cel = typeof import('./cel.ts');

function compile(json: ConditionJson, { cast, compileCelExpression, Run }: Cel): Condition {
  const parameters = Object.entries(json.parameters ?? {});
  const program = compiled(json, compileCelExpression);

  /** A declared parameter without a value is an error even if the other parameters would decide, as in OpenFGA. */
  function holds(tupleContext: Context | undefined, requestContext: Context | undefined): boolean {
    const slots = Array<Value>(program.slots).fill(null);
    const missing: string[] = [];
    const fault = contextFault(requestContext) ?? contextFault(tupleContext);
    if (fault !== undefined) throw failed(json.name, fault);
    if (parameters.length === 0 && !(isEmpty(tupleContext) && isEmpty(requestContext))) {
      throw failed(json.name, 'it has no parameters');
    }
    for (const [slot, [name, type]] of parameters.entries()) {
      const context = has(tupleContext, name) ? tupleContext : requestContext;
      if (!has(context, name)) missing.push(name);
      else slots[slot] = checked(json.name, name, () => cast(type, context[name]));
    }
    if (missing.length > 0) throw failed(json.name, `missing context parameters ${missing.join(', ')}`);
    return evaluate(slots);
  }

  function evaluate(slots: Value[]): boolean {
    let answer: Value;
    try {
      answer = program.eval(new Run(slots));
    } catch (error) {
      throw failed(json.name, (error as Error).message, error);
    }
    if (typeof answer === 'boolean') return answer;
    throw failed(json.name, (answer as { message?: string } | null)?.message ?? 'the expression did not return a bool');
  }

  function faultOf(context: Context): string | undefined {
    const fault = contextFault(context);
    if (fault !== undefined) return fault;
    const types = new Map(parameters);
    for (const [name, given] of Object.entries(context)) {
      const type = types.get(name);
      if (type === undefined) return `found invalid context parameter: ${name}`;
      try {
        cast(type, given);
      } catch (error) {
        return `parameter ${name}: ${(error as Error).message}`;
      }
    }
    return;
  }

  return { name: json.name, holds, faultOf };
}

function compiled(json: ConditionJson, compileCelExpression: Cel['compileCelExpression']): Program {
  try {
    return compileCelExpression(json.expression, Object.entries(json.parameters ?? {}));
  } catch (error) {
    throw new RebacError('invalidModel', `condition ${json.name}: ${(error as Error).message}`, error);
  }
}

function has(context: Context | undefined, name: string): context is Context {
  return context !== undefined && Object.hasOwn(context, name) && context[name] !== undefined;
}

function isEmpty(context: Context | undefined): boolean {
  return context === undefined || Object.keys(context).length === 0;
}

function checked<T>(condition: string, parameter: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw failed(condition, `parameter ${parameter}: ${(error as Error).message}`, error);
  }
}

function failed(condition: string, why: string, cause?: unknown): RebacError {
  return new RebacError('validation', `condition ${condition} cannot be evaluated: ${why}`, cause);
}
