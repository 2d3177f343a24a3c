import { misuse } from './failure.ts';
import { readObject } from './object-text.ts';
import { relationNamed } from './relation.ts';

export type PolicyObject = ReturnType<typeof readObject>;

/** One assertion of a policy file. */
export type Assertion = {
  /** In words, for the report. */
  readonly name: string;
} & (
  | {
      readonly user: string | undefined;
      readonly relation: string;
      readonly object: PolicyObject;
      readonly isAllowed: boolean;
    }
  | { readonly whoCan: { readonly relation: string; readonly object: string }; readonly equals: readonly string[] }
);

export interface Policy {
  readonly organization: string | undefined;
  readonly assertions: readonly Assertion[];
}

type Fields = Readonly<Record<string, unknown>>;

const KEYS = ['name', 'user', 'can', 'cannot', 'object', 'who_can', 'equals'];

/** Reads a list of assertions, or a document with `tests`. Nothing unknown is ignored, because it may be a typo. */
export function readPolicy(value: unknown, file: string): Policy {
  const wrong = (what: string) => misuse(`${file}: ${what}`);
  const document = Array.isArray(value) ? { tests: value } : fieldsOf(value);
  if (!document) throw wrong('expected a list of assertions, or tests: with one');
  for (const key of Object.keys(document)) {
    if (key !== 'tests' && key !== 'organization') throw wrong(`unknown field ${key}; use organization and tests`);
  }
  const { tests, organization } = document as { tests?: unknown; organization?: unknown };
  if (!Array.isArray(tests) || tests.length === 0) throw wrong('tests must be a list of assertions');
  if (organization !== undefined && typeof organization !== 'string') throw wrong('organization must be a name');
  return { organization, assertions: tests.flatMap((test, place) => readTest(test, `tests[${place}]`, wrong)) };
}

function readTest(value: unknown, at: string, wrong: (what: string) => Error): Assertion[] {
  const test = fieldsOf(value);
  if (!test) throw wrong(`${at} must be an assertion`);
  for (const key of Object.keys(test)) {
    if (!KEYS.includes(key)) throw wrong(`${at} has the unknown field ${key}; use some of ${KEYS.join(', ')}`);
  }
  const named = test.name === undefined ? undefined : textOf(test.name, `${at}.name`, wrong);
  if (test.who_can !== undefined) return [readWhoCan(test, at, named, wrong)];
  const user = test.user === undefined ? undefined : textOf(test.user, `${at}.user`, wrong);
  const object = textOf(test.object, `${at}.object`, wrong);
  const granted = relationsOf(test.can, `${at}.can`, wrong);
  const denied = relationsOf(test.cannot, `${at}.cannot`, wrong);
  if (granted.length + denied.length === 0) throw wrong(`${at} needs can or cannot`);
  const assertion = (relation: string, isAllowed: boolean): Assertion => ({
    name: named ?? `${user ?? 'you'} ${isAllowed ? 'can' : 'cannot'} ${relation} ${object}`,
    user,
    relation: relationNamed(relation),
    object: readObject(object),
    isAllowed,
  });
  return [...granted.map((one) => assertion(one, true)), ...denied.map((one) => assertion(one, false))];
}

function readWhoCan(test: Fields, at: string, named: string | undefined, wrong: (what: string) => Error): Assertion {
  const asked = fieldsOf(test.who_can);
  if (!asked) throw wrong(`${at}.who_can must have a relation and an object`);
  const relation = textOf(asked.relation, `${at}.who_can.relation`, wrong);
  const object = textOf(asked.object, `${at}.who_can.object`, wrong);
  const { equals } = test;
  if (!Array.isArray(equals) || !equals.every((one) => typeof one === 'string')) {
    throw wrong(`${at}.equals must be a list of login names`);
  }
  const name = named ?? `who can ${relation} ${object} equals ${equals.length === 0 ? 'no user' : equals.join(', ')}`;
  return { name, whoCan: { relation: relationNamed(relation), object }, equals };
}

function relationsOf(value: unknown, at: string, wrong: (what: string) => Error): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map((one) => textOf(one, at, wrong));
}

function textOf(value: unknown, at: string, wrong: (what: string) => Error): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw wrong(`${at} must be a text`);
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}
