import type { ConditionJson, ModelJson, ParameterTypeJson } from '../syntax.ts';
import type { Fault } from './model-faults.ts';

const NAME = /^[^:#@\s]{1,50}$/;

/** How many types each type of a parameter is made of. */
const PARTS: ReadonlyMap<string, number> = new Map([
  ['TYPE_NAME_ANY', 0],
  ['TYPE_NAME_BOOL', 0],
  ['TYPE_NAME_STRING', 0],
  ['TYPE_NAME_INT', 0],
  ['TYPE_NAME_UINT', 0],
  ['TYPE_NAME_DOUBLE', 0],
  ['TYPE_NAME_DURATION', 0],
  ['TYPE_NAME_TIMESTAMP', 0],
  ['TYPE_NAME_IPADDRESS', 0],
  ['TYPE_NAME_LIST', 1],
  ['TYPE_NAME_MAP', 1],
]);

/** Conditions that no relation uses, and those that are not well-formed. Their expressions are compiled later. */
export function* conditionFaults({ type_definitions: types, conditions }: ModelJson): IterableIterator<Fault> {
  const restrictions = types.flatMap(({ metadata }) => Object.values(metadata?.relations ?? {}));
  const used = new Set(
    restrictions.flatMap((one) => one?.directly_related_user_types ?? []).map((one) => one.condition),
  );
  for (const [condition, json] of Object.entries(conditions ?? {})) {
    for (const message of ownFaults(condition, json)) yield { condition, message };
    if (!used.has(condition)) yield { condition, message: `\`${condition}\` condition is not used in the model.` };
  }
}

function* ownFaults(key: string, { name, expression, parameters }: ConditionJson): IterableIterator<string> {
  if (key !== name) yield `condition key is \`${key}\` but nested name property is ${name}`;
  if (!NAME.test(key)) yield `condition '${key}' does not match naming rule: '${NAME.source}'.`;
  if (!expression) yield `condition '${key}' has no expression.`;
  for (const [parameter, type] of Object.entries(parameters ?? {})) {
    if (!NAME.test(parameter))
      yield `parameter '${parameter}' of condition '${key}' does not match naming rule: '${NAME.source}'.`;
    for (const fault of parameterFaults(type)) yield `parameter '${parameter}' of condition '${key}': ${fault}`;
  }
}

function* parameterFaults({ type_name: name, generic_types: parts = [] }: ParameterTypeJson): IterableIterator<string> {
  const due = PARTS.get(name);
  if (due === undefined) yield `'${name}' is not a type.`;
  else if (due === 1 && parts.length !== 1) yield `'${name}' needs the type of its elements.`;
  for (const part of parts) yield* parameterFaults(part);
}
