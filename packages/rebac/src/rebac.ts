/**
 * Everything that the package offers. A program that uses the engine imports this file and no other of the package;
 * `test/architecture.test.ts` holds the product to it.
 */

// Questions: whether, which, who.
export { allowed, type CheckQuery, check } from './engine.ts';
// Reasons: why, why not, and by which paths.
export type { MissingLink } from './explain-missing.ts';
export type { Step } from './explain-proof.ts';
export { explain, explainAll } from './explanation.ts';
// Models and graphs: what relations mean, and the tuples that they are decided from.
export { createGraph, type Graph } from './graph.ts';
// What the tuples state, before any rule is applied to it.
export { usersIn } from './line-reader.ts';
export { listObjects, possibleObjects } from './list-objects.ts';
export { listUsers, possibleUsers } from './list-users.ts';
export { type Model, readModel, readModelJson, readModules } from './model.ts';
export type { RelationDef, Rewrite, TypeDef } from './model-types.ts';
export { RebacError } from './rebac-error.ts';
export {
  isUnlikeOthers,
  nodeOf,
  type Stated,
  statedAbout,
  statedTo,
  textOfObject,
  textOfSubject,
  textsByObject,
} from './stated.ts';
export { type ModelJson, parseSyntax } from './syntax.ts';
export { admit, type Tuple } from './tuple.ts';
