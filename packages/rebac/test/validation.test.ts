import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check } from '../src/engine.ts';
import { createGraph } from '../src/graph.ts';
import { readModel, readModelJson, readModules } from '../src/model.ts';
import { type ModelJson, parseSyntax } from '../src/syntax.ts';

const CONDITION = 'condition c(x: int) {\n  x < 100\n}\n';

/** A model of these types, each as `name`, or as `name relation: definition; relation: definition`. */
function modelOf(types: readonly string[], conditions = ''): string {
  const blocks = types.map((text) => {
    const [, name = '', body = ''] = /^(\S+)\s*(.*)$/.exec(text) ?? [];
    const lines = body === '' ? [] : body.split(';').map((line) => `    define ${line.trim()}\n`);
    return `type ${name}\n${lines.length > 0 ? '  relations\n' : ''}${lines.join('')}`;
  });
  return `model\n  schema 1.1\n${blocks.join('')}${conditions}`;
}

const VALID: readonly (readonly [what: string, types: readonly string[], conditions?: string])[] = [
  [
    'a parent only with a condition',
    ['user', 'folder viewer: [user]', 'doc parent: [folder with c]; viewer: viewer from parent'],
    CONDITION,
  ],
  [
    'a parent first with a condition',
    ['user', 'folder viewer: [user]', 'doc parent: [folder with c, folder]; viewer: viewer from parent'],
    CONDITION,
  ],
  [
    'a parent of two types, one of which lacks the relation',
    ['user', 'org', 'folder viewer: [user]', 'doc parent: [org with c, folder with c]; viewer: viewer from parent'],
    CONDITION,
  ],
  [
    'a parent of its own type with a condition',
    ['user', 'doc parent: [doc with c]; viewer: [user] or viewer from parent'],
    CONDITION,
  ],
  ['a userset only with a condition', ['user', 'team member: [user, team#member with c]'], CONDITION],
  ['everybody only with a condition', ['user', 'doc viewer: [user:* with c]'], CONDITION],
  [
    'relations named like built-in properties',
    ['user', 'doc constructor: [user]; toString: constructor; valueOf: [user] but not toString'],
  ],
  [
    'types named like built-in properties',
    ['user', 'constructor viewer: [user]', 'doc hasOwnProperty: [constructor#viewer]'],
  ],
  ['names with characters that mean something in a pattern', ['user', 'a.b viewer: [user]', 'doc v.w: [a.b#viewer]']],
  ['no types at all', []],
];

for (const [what, types, conditions] of VALID) {
  test(`A model with ${what} is accepted, as text and as JSON`, async () => {
    const text = modelOf(types, conditions);
    await readModel(text);
    await readModelJson(await parseSyntax(text));
  });
}

test('A parent that is linked only with a condition is followed while the condition holds', async () => {
  const [, types, conditions] = VALID[0] as (typeof VALID)[number];
  const graph = createGraph(await readModel(modelOf(types, conditions)), [
    { user: 'folder:1', relation: 'parent', object: 'doc:1', condition: { name: 'c' } },
    { user: 'user:ann', relation: 'viewer', object: 'folder:1' },
  ]);
  const ask = (x: number) => check(graph, { user: 'user:ann', relation: 'viewer', object: 'doc:1', context: { x } });
  assert.deepEqual([ask(1), ask(100)], [true, false]);
});

const INVALID: readonly (readonly [types: readonly string[], message: string, conditions?: string])[] = [
  [['user', 'doc v: w'], 'line 6: the relation `w` does not exist.'],
  [['user', 'doc v: toString'], 'line 6: the relation `toString` does not exist.'],
  [['user', 'doc v: [user] or w'], 'line 6: the relation `w` does not exist.'],
  [
    ['user', 'doc v: [user] but not (w and x)'],
    'line 6: the relation `w` does not exist.; line 6: the relation `x` does not exist.',
  ],
  [['user', 'doc v: [ghost]'], 'line 6: `ghost` is not a valid type.'],
  [['user', 'doc v: [constructor]'], 'line 6: `constructor` is not a valid type.'],
  [['user', 'doc v: [doc#w]'], 'line 6: `w` is not a valid relation for `doc`.'],
  [['user', 'doc v: [user with d]'], 'line 6: `d` is not a defined condition in the model.'],
  [['user', 'doc v: w from p'], 'line 6: `p` is not a valid relation for `doc`.'],
  [
    ['user', 'doc p: [user]; v: w from p'],
    'line 7: the `w` relation definition on type `doc` is not valid: `w` does not exist on `p`, which is of type `user`.',
  ],
  [
    ['user', 'doc p: [user with c]; v: w from p'],
    'line 7: the `w` relation definition on type `doc` is not valid: `w` does not exist on `p`, which is of type `user`.',
    CONDITION,
  ],
  [
    ['user', 'doc p: [doc:*]; v: [user] or v from p'],
    'line 7: `p` relation used inside from allows only direct relation.',
  ],
  [
    ['user', 'doc p: [doc#v]; v: [user] or v from p'],
    'line 7: `p` relation used inside from allows only direct relation.',
  ],
  [
    ['user', 'doc q: [doc]; p: q; v: [user] or v from p'],
    'line 8: `p` relation used inside from allows only direct relation.',
  ],
  [
    ['user', 'doc q: [doc]; p: [doc] or q; v: [user] or v from p'],
    'line 8: `p` relation used inside from allows only direct relation.',
  ],
  [['user', 'self v: [user]'], "line 4: a type cannot be named 'self' or 'this'."],
  [['user', 'doc this: [user]'], "line 6: a relation cannot be named 'self' or 'this'."],
  [['user', 'doc v: [user]', 'user'], 'line 3: the type `user` is a duplicate.'],
  [['user', 'doc v: [user, user]'], 'line 6: the type restriction `user` is a duplicate in the relation `v`.'],
  [
    ['user', 'doc a: [user]; v: a or a'],
    'line 7: the partial relation definition `a` is a duplicate in the relation `v`.',
  ],
  [
    ['user', 'doc a: [user]; v: a but not a'],
    'line 7: the partial relation definition `a` is a duplicate in the relation `v`.',
  ],
  [['user', 'doc v: [doc#v]'], 'line 6: `v` is an impossible relation for `doc` (no entrypoint).'],
  [
    ['user', 'doc v: [doc#w]; w: [doc#v]'],
    'line 6: `v` is an impossible relation for `doc` (no entrypoint).; line 7: `w` is an impossible relation for `doc` (no entrypoint).',
  ],
  [['user', 'doc p: [doc]; v: v from p'], 'line 7: `v` is an impossible relation for `doc` (no entrypoint).'],
  [['user', 'doc v: v'], 'line 6: `v` is an impossible relation for `doc` (potential loop).'],
  [
    ['user', 'doc v: w; w: v'],
    'line 6: `v` is an impossible relation for `doc` (potential loop).; line 7: `w` is an impossible relation for `doc` (potential loop).',
  ],
  [['user', 'doc v: [user] or v'], 'line 6: `v` is an impossible relation for `doc` (potential loop).'],
  [
    ['user', 'doc v: [user] or w; w: [user] but not v'],
    'line 6: `v` is an impossible relation for `doc` (potential loop).; line 7: `w` is an impossible relation for `doc` (potential loop).',
  ],
  [
    ['user', 'doc a: [user]; v: a and w; w: [doc#w]'],
    'line 7: `v` is an impossible relation for `doc` (no entrypoint).; line 8: `w` is an impossible relation for `doc` (no entrypoint).',
  ],
  [
    ['user', 'doc a: [user]; v: a but not w; w: [doc#w]'],
    'line 7: `v` is an impossible relation for `doc` (no entrypoint).; line 8: `w` is an impossible relation for `doc` (no entrypoint).',
  ],
  [['user', 'doc v: [user]'], 'line 7: `c` condition is not used in the model.', CONDITION],
];

for (const [types, message, conditions] of INVALID) {
  test(`A model with ${types.join(', ')}${conditions ? ' and a condition' : ''} is rejected: ${message}`, async () => {
    await assert.rejects(readModel(modelOf(types, conditions)), { message, code: 2056 });
  });
}

test('A model that OpenFGA rejects because of how it searches for entrypoints is rejected', async () => {
  // The server regards x as visited when it looks at y, although x has an entrypoint.
  const types = ['user', 'team member: [user]', 'doc x: [team#member]; y: x; b: x and y; a: b'];
  await assert.rejects(readModel(modelOf(types)), {
    message: 'line 12: `a` is an impossible relation for `doc` (potential loop).',
  });
  await readModel(modelOf([...types.slice(0, 2), 'doc x: [team#member]; y: x; b: x and y']));
});

test('The line of a fault is found in spite of comments, odd spacing and a second type with the same relation', async () => {
  const text = `model
  schema 1.1
# type doc
type user # type doc
type org # the owner
  relations
    define v: [user] # define w: x
type doc   # a document
  relations
    define  v  :  [user] or  nothing # missing
`;
  await assert.rejects(readModel(text), { message: 'line 10: the relation `nothing` does not exist.' });
});

test('The file and the line of a fault in a modular model are named', async () => {
  const core = { name: 'core.fga', contents: 'module core\ntype user\ntype doc\n  relations\n    define v: [user]\n' };
  const more = { name: 'more.fga', contents: 'module more\n\nextend type doc\n  relations\n    define w: [ghost]\n' };
  await assert.rejects(readModules([core, more]), { message: 'more.fga line 5: `ghost` is not a valid type.' });
});

const JSON_MODELS: readonly (readonly [what: string, json: unknown, message: string])[] = [
  ['that is a list', [], 'the model is not a JSON object'],
  ['that is null', null, 'the model is not a JSON object'],
  ['without a schema', { type_definitions: [] }, 'schema version required'],
  ['with a number as schema', { schema_version: 1.1 }, 'schema_version is not a string'],
  ['with an unknown schema', { schema_version: '1.0' }, 'invalid schema 1.0'],
  ['with an object of types', { schema_version: '1.1', type_definitions: {} }, 'type_definitions is not a list'],
  [
    'with a type without a name',
    { schema_version: '1.1', type_definitions: [{ type: 'user' }, {}] },
    'type_definitions[1] has no type name',
  ],
  [
    'with an empty type name',
    typed({ type: '' }),
    "type : type '' does not match naming rule: '^[^:#@\\*\\s]{1,254}$'.",
  ],
  [
    'with a space in a relation',
    relation('a b', { this: {} }),
    "doc#a b: relation 'a b' of type 'doc' does not match naming rule: '^[^:#@\\*\\s]{1,50}$'.",
  ],
  ['with an empty rewrite', relation('v', {}), 'doc#v: the relation is not defined by any rewrite.'],
  ['with a rewrite that is text', relation('v', 'this'), 'type_definitions[1].relations.v is not a rewrite'],
  [
    'with two rewrites at once',
    relation('v', { this: {}, computedUserset: { relation: 'v' } }),
    'doc#v: the relation is defined by this and computedUserset at once.',
  ],
  [
    'with a union of one',
    relation('v', { union: { child: [{ this: {} }] } }),
    'doc#v: union needs at least two operands, got 1.',
  ],
  [
    'with an intersection of none',
    relation('v', { intersection: { child: [] } }, []),
    'doc#v: intersection needs at least two operands, got 0.',
  ],
  [
    'with an operator without operands',
    relation('v', { union: {} }),
    'type_definitions[1].relations.v is not a rewrite',
  ],
  [
    'with an exclusion of nothing',
    relation('v', { difference: { base: { this: {} } } }),
    'type_definitions[1].relations.v is not a rewrite',
  ],
  [
    'with a parent without a name',
    relation('v', { tupleToUserset: { tupleset: {} } }),
    'type_definitions[1].relations.v is not a rewrite',
  ],
  [
    'with a relation that nobody can be assigned',
    relation('v', { this: {} }, []),
    "doc#v: assignable relation 'v' must have types",
  ],
  [
    'with restrictions on a computed relation',
    { ...relation('v', { computedUserset: { relation: 'w' } }), extra: 'w' },
    'doc#v: `v` has type restrictions but cannot be assigned directly.',
  ],
  [
    'with a restriction that is text',
    relation('v', { this: {} }, ['user']),
    'type_definitions[1].metadata.relations.v.directly_related_user_types is not a list of types',
  ],
  [
    'with a wildcard of a userset',
    relation('v', { this: {} }, [{ type: 'doc', relation: 'v', wildcard: {} }]),
    'doc#v: type restriction `doc:*#v` cannot contain both wildcard and relation',
  ],
  ['with a condition that is text', conditional('x'), 'conditions.c is not an object'],
  [
    'with a condition of another name',
    conditional({ name: 'd', expression: 'true' }),
    'condition c: condition key is `c` but nested name property is d',
  ],
  ['with a condition without expression', conditional({ name: 'c' }), "condition c: condition 'c' has no expression."],
  [
    'with a parameter that is text',
    conditional({ name: 'c', expression: 'x', parameters: { x: 'bool' } }),
    'conditions.c.parameters.x is not a type',
  ],
  [
    'with a parameter of no type',
    conditional({ name: 'c', expression: 'true', parameters: { x: { type_name: 'TYPE_NAME_UNSPECIFIED' } } }),
    "condition c: parameter 'x' of condition 'c': 'TYPE_NAME_UNSPECIFIED' is not a type.",
  ],
  [
    'with a list of nothing',
    conditional({ name: 'c', expression: 'true', parameters: { x: { type_name: 'TYPE_NAME_LIST' } } }),
    "condition c: parameter 'x' of condition 'c': 'TYPE_NAME_LIST' needs the type of its elements.",
  ],
  [
    'with a space in a parameter',
    conditional({ name: 'c', expression: 'true', parameters: { 'x y': { type_name: 'TYPE_NAME_BOOL' } } }),
    "condition c: parameter 'x y' of condition 'c' does not match naming rule: '^[^:#@\\s]{1,50}$'.",
  ],
];

function typed(...types: readonly object[]): object {
  return { schema_version: '1.1', type_definitions: types };
}

function relation(
  name: string,
  rewrite: unknown,
  directly_related_user_types: readonly unknown[] = [{ type: 'user' }],
): object {
  const metadata = {
    relations: { [name]: { directly_related_user_types }, w: { directly_related_user_types: [{ type: 'user' }] } },
  };
  return typed({ type: 'user' }, { type: 'doc', relations: { [name]: rewrite, w: { this: {} } }, metadata });
}

function conditional(condition: unknown): object {
  const one = relation('v', { this: {} }, [{ type: 'user', condition: 'c' }]);
  return { ...one, conditions: { c: condition } };
}

for (const [what, json, message] of JSON_MODELS) {
  test(`A JSON model ${what} is rejected: ${message}`, async () => {
    await assert.rejects(readModelJson(json as ModelJson), { message, code: 2056 });
  });
}
