import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { runFile } from '../../packages/rebac/corpus/file.ts';
import { type Model, type Rewrite, readModel, type TypeDef } from '../../packages/rebac/src/rebac.ts';

describe('Platform model', () => {
  it('The platform model passes its store tests', async () => {
    const { held, total, failures } = await runFile('test/authz/platform.fga.yaml');
    assert.deepEqual(failures, []);
    assert.equal(held, total);
    assert.ok(total > 200, `${total} assertions`);
  });
});

/**
 * OpenFGA's upcoming evaluator drops two corners of the language. A model that does not use them can move there
 * unchanged.
 */
describe('Platform model and the OpenFGA subset', () => {
  let model: Model;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });

  it('The platform model has no "x from parent" where a parent type lacks x', () => {
    assert.deepEqual(strayParents(model), []);
  });

  it('The platform model has no recursion through "and" or "but not"', () => {
    assert.deepEqual(recursiveSubtractions(model), []);
  });

  it("A model outside OpenFGA's subset is reported", async () => {
    const outside = await readModel(`model
  schema 1.1
type user
type folder
  relations
    define viewer: [user]
type group
  relations
    define member: [user, group#member] but not banned
    define banned: [user]
type doc
  relations
    define parent: [folder, group]
    define viewer: viewer from parent`);
    assert.deepEqual(strayParents(outside), ['doc#viewer: group has no viewer']);
    assert.deepEqual(recursiveSubtractions(outside), ['group#member']);
  });
});

function strayParents(model: Model): string[] {
  return model.types.flatMap((type) =>
    type.relations.flatMap(({ name, rewrite }) =>
      parentsIn(rewrite).flatMap(({ tupleset, relation }) =>
        parentTypes(model, type, tupleset)
          .filter((parent) => !parent.relationIndex.has(relation))
          .map((parent) => `${type.name}#${name}: ${parent.name} has no ${relation}`),
      ),
    ),
  );
}

function recursiveSubtractions(model: Model): string[] {
  return model.types.flatMap((type) =>
    type.relations
      .filter(({ rewrite }) => subtracts(rewrite))
      .map(({ name }) => `${type.name}#${name}`)
      .filter((name) => reachable(model, name).has(name)),
  );
}

/** Every relation that the answer to this one can depend on. */
function reachable(model: Model, from: string): Set<string> {
  const seen = new Set<string>();
  const open = [from];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    for (const next of leadsTo(model, name)) {
      if (!seen.has(next)) open.push(next);
      seen.add(next);
    }
  }
  return seen;
}

function leadsTo(model: Model, name: string): string[] {
  const [typeName = '', relationName = ''] = name.split('#');
  const type = model.typeIndex.get(typeName);
  const relation = type?.relations.find((one) => one.name === relationName);
  if (!type || !relation) return [];
  const usersets = [...relation.admits.keys()].flatMap((kind) => {
    const subject = model.kinds[kind];
    return subject?.relation === undefined ? [] : [nameOf(subject.type, subject.relation)];
  });
  const parents = parentsIn(relation.rewrite).flatMap(({ tupleset, relation: wanted }) =>
    parentTypes(model, type, tupleset).map((parent) => `${parent.name}#${wanted}`),
  );
  return [...usersets, ...parents, ...computedIn(relation.rewrite).map((index) => nameOf(type, index))];
}

function nameOf(type: TypeDef, relation: number): string {
  return `${type.name}#${type.relations[relation]?.name}`;
}

function parentTypes(model: Model, type: TypeDef, tupleset: number): TypeDef[] {
  const kinds = [...(type.relations[tupleset]?.admits.keys() ?? [])];
  return kinds.flatMap((kind) => model.kinds[kind]?.type ?? []);
}

function childrenOf(rewrite: Rewrite): readonly Rewrite[] {
  if (rewrite.op === 'or' || rewrite.op === 'and') return rewrite.of;
  return rewrite.op === 'not' ? [rewrite.base, rewrite.subtract] : [];
}

function parentsIn(rewrite: Rewrite): { tupleset: number; relation: string }[] {
  return rewrite.op === 'parent' ? [rewrite] : childrenOf(rewrite).flatMap(parentsIn);
}

function computedIn(rewrite: Rewrite): number[] {
  return rewrite.op === 'computed' ? [rewrite.relation] : childrenOf(rewrite).flatMap(computedIn);
}

function subtracts(rewrite: Rewrite): boolean {
  return rewrite.op === 'and' || rewrite.op === 'not' || childrenOf(rewrite).some(subtracts);
}
