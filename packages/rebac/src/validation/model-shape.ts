/**
 * A model that comes as JSON can be anything. This says where it is not even of the form of a model, so that the rules
 * can rely on it.
 */
export function* shapeFaults(json: unknown): IterableIterator<string> {
  if (!isObject(json)) {
    yield 'the model is not a JSON object';
    return;
  }
  const { type_definitions: types, conditions, schema_version: version } = json;
  if (version !== undefined && typeof version !== 'string') yield 'schema_version is not a string';
  if (isPresent(types) && !Array.isArray(types)) yield 'type_definitions is not a list';
  for (const [at, type] of Array.isArray(types) ? types.entries() : [])
    yield* typeFaults(`type_definitions[${at}]`, type);
  for (const [name, condition] of entries(conditions)) {
    if (!isObject(condition)) yield `conditions.${name} is not an object`;
    else
      for (const [parameter, type] of entries(condition.parameters))
        if (!isParameterType(type)) yield `conditions.${name}.parameters.${parameter} is not a type`;
  }
}

function* typeFaults(at: string, type: unknown): IterableIterator<string> {
  if (!isObject(type) || typeof type.type !== 'string') {
    yield `${at} has no type name`;
    return;
  }
  for (const [name, rewrite] of entries(type.relations)) {
    if (!isRewrite(rewrite)) yield `${at}.relations.${name} is not a rewrite`;
  }
  const metadata = isObject(type.metadata) ? type.metadata : {};
  for (const [name, relation] of entries(metadata.relations)) {
    const types = isObject(relation) ? (relation.directly_related_user_types ?? []) : [];
    if (!Array.isArray(types) || !types.every((one) => isObject(one) && typeof one.type === 'string'))
      yield `${at}.metadata.relations.${name}.directly_related_user_types is not a list of types`;
  }
}

function isRewrite(json: unknown): boolean {
  if (!isObject(json)) return false;
  const { computedUserset, tupleToUserset, union, intersection, difference } = json;
  if (isPresent(computedUserset) && !isRelation(computedUserset)) return false;
  if (isPresent(tupleToUserset)) {
    if (!isObject(tupleToUserset)) return false;
    if (!isRelation(tupleToUserset.tupleset) || !isRelation(tupleToUserset.computedUserset)) return false;
  }
  for (const operator of [union, intersection].filter(isPresent)) {
    if (!isObject(operator) || !Array.isArray(operator.child) || !operator.child.every(isRewrite)) return false;
  }
  if (!isPresent(difference)) return true;
  return isObject(difference) && isRewrite(difference.base) && isRewrite(difference.subtract);
}

function isRelation(json: unknown): boolean {
  return isObject(json) && typeof json.relation === 'string';
}

function isParameterType(json: unknown): boolean {
  if (!isObject(json) || typeof json.type_name !== 'string') return false;
  const { generic_types: parts = [] } = json;
  return Array.isArray(parts) && parts.every(isParameterType);
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

function isPresent(json: unknown): boolean {
  return json !== undefined && json !== null;
}

function entries(json: unknown): [string, unknown][] {
  return isObject(json) ? Object.entries(json) : [];
}
