import type { Environment } from '@marcbachmann/cel-js';
import { RebacError } from '../rebac-error.ts';
import type { ConditionJson } from '../syntax.ts';
import { type Cast, celTypeOf, createCast } from './condition-types.ts';
import { IpAddress, inCidr, parseIp } from './ip-address.ts';

export type Context = Readonly<Record<string, unknown>>;

/** A condition of the model, ready to be evaluated. `holds` throws a RebacError if OpenFGA would answer 2000. */
export interface Condition {
  readonly name: string;
  /** Why this context cannot be stored on a tuple, or `undefined` if it can. */
  refuses(context: Context): string | undefined;
  holds(tupleContext: Context | undefined, requestContext: Context | undefined): boolean;
}

/** CEL is loaded only for models that have conditions. */
export async function compileConditions(all: readonly ConditionJson[]): Promise<Map<string, Condition>> {
  const compiled = new Map<string, Condition>();
  if (all.length === 0) return compiled;
  const cel = await import('@marcbachmann/cel-js');
  const cast = createCast(new cel.Environment());
  for (const json of all) compiled.set(json.name, compile(json, environment(new cel.Environment()), cast));
  return compiled;
}

function environment(env: Environment): Environment {
  env
    .registerType('IPAddress', { ctor: IpAddress, fields: {} })
    .registerFunction('ipaddress(string): IPAddress', (text: string) => {
      const address = parseIp(text);
      if (address === undefined) throw new Error(`'${text}' is not an IP address`);
      return address;
    })
    .registerFunction('IPAddress.in_cidr(string): bool', (address: IpAddress, cidr: string) => {
      const inside = inCidr(address, cidr);
      if (inside === undefined) throw new Error(`'${cidr}' is a malformed CIDR string`);
      return inside;
    })
    .registerOperator('IPAddress == IPAddress', (a: IpAddress, b: IpAddress) => a.equals(b));
  // CEL allows every message to be compared with null. Our typed values are never null.
  for (const type of ['IPAddress', 'google.protobuf.Timestamp', 'google.protobuf.Duration']) {
    env.registerOperator(`${type} == null`, () => false);
  }
  return env;
}

function compile(json: ConditionJson, env: Environment, cast: Cast): Condition {
  const parameters = Object.entries(json.parameters ?? {});
  for (const [name, type] of parameters) env.registerVariable(name, celTypeOf(type));
  const program = parse(json, env);

  /** A declared parameter without a value is an error even if the other parameters would decide, as in OpenFGA. */
  function holds(tupleContext: Context | undefined, requestContext: Context | undefined): boolean {
    const values: Record<string, unknown> = Object.create(null);
    const missing: string[] = [];
    for (const [name, type] of parameters) {
      const given = own(tupleContext, name) ?? own(requestContext, name);
      if (given === undefined) missing.push(name);
      else values[name] = checked(json.name, name, () => cast(type, given));
    }
    if (missing.length > 0) throw failed(json.name, `missing context parameters ${missing.join(', ')}`);
    let answer: unknown;
    try {
      answer = program(values);
    } catch (error) {
      throw failed(json.name, (error as Error).message.split('\n', 1)[0] as string, error);
    }
    if (typeof answer !== 'boolean') throw failed(json.name, 'the expression did not return a bool');
    return answer;
  }

  function refuses(context: Context): string | undefined {
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

  return { name: json.name, holds, refuses };
}

function parse(json: ConditionJson, env: Environment) {
  try {
    const program = env.parse(json.expression);
    const verdict = program.check();
    if (!verdict.valid) throw verdict.error ?? new Error('does not type check');
    if (verdict.type !== 'bool' && verdict.type !== 'dyn') throw new Error(`expected a bool, but got ${verdict.type}`);
    return program;
  } catch (error) {
    const fault = (error as Error).message.split('\n', 1)[0];
    throw new RebacError('invalidModel', `condition ${json.name}: ${fault}`, error);
  }
}

function own(context: Context | undefined, name: string): unknown {
  return context !== undefined && Object.hasOwn(context, name) ? context[name] : undefined;
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
