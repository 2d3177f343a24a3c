import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { check, createGraph, type Model, readModel, readModules, type Tuple } from '../src/rebac.ts';
import { count, expected, objectsOf, outcome, type Report, usersOf } from './report.ts';
import { readTuples } from './tuples.ts';

type Context = Readonly<Record<string, unknown>>;

interface WithTuples {
  readonly tuples?: readonly Tuple[] | null;
  readonly tuple_file?: string;
  readonly tuple_files?: readonly string[];
}

interface StoreTest extends WithTuples {
  readonly name?: string;
  readonly check?: readonly {
    readonly user?: string;
    readonly users?: readonly string[];
    readonly object?: string;
    readonly objects?: readonly string[];
    readonly context?: Context;
    readonly assertions: Readonly<Record<string, boolean>>;
  }[];
  readonly list_objects?: readonly {
    readonly user: string;
    readonly type: string;
    readonly context?: Context;
    readonly assertions: Readonly<Record<string, readonly string[] | null>>;
  }[];
  readonly list_users?: readonly {
    readonly object: string;
    readonly user_filter: readonly { readonly type: string; readonly relation?: string }[];
    readonly context?: Context;
    readonly assertions: Readonly<Record<string, { readonly users?: readonly string[] } | null>>;
  }[];
}

export interface StoreFile extends WithTuples {
  readonly name?: string;
  readonly model?: string;
  readonly model_file?: string;
  readonly tests?: readonly StoreTest[];
}

/** Runs a store file as `fga model test` does: with the tuples of the store and of the test, then each assertion. */
export async function runStore(path: string, file: StoreFile, report: Report): Promise<void> {
  const folder = dirname(path);
  const model = await modelOf(folder, file);
  const common = await tuplesOf(folder, file);
  for (const [index, test] of (file.tests ?? []).entries()) {
    const tuples = [...common, ...(await tuplesOf(folder, test))];
    runTest(test.name ?? `test ${index + 1}`, test, model, tuples, report);
  }
}

function runTest(name: string, test: StoreTest, model: Model, tuples: readonly Tuple[], report: Report): void {
  const graph = createGraph(model, tuples);
  const compare = (what: string, due: string, came: string): void =>
    count(report, `${name}: ${what}`, due === came ? undefined : `expected ${due}, got ${came}`);
  for (const { user, users = [], object, objects = [], context, assertions } of test.check ?? []) {
    for (const who of user === undefined ? users : [user, ...users]) {
      for (const on of object === undefined ? objects : [object, ...objects]) {
        for (const [relation, due] of Object.entries(assertions)) {
          const came = outcome(() => check(graph, { user: who, relation, object: on, context }));
          compare(`check ${who} ${relation} ${on}`, expected(due, undefined, false), came);
        }
      }
    }
  }
  for (const { user, type, context, assertions } of test.list_objects ?? []) {
    for (const [relation, due] of Object.entries(assertions)) {
      const came = outcome(() => objectsOf(graph, { user, type, relation }, { context }));
      compare(`list_objects ${user} ${relation} ${type}`, expected(due, undefined, true), came);
    }
  }
  for (const { object, user_filter, context, assertions } of test.list_users ?? []) {
    const filters = user_filter.map(({ type, relation }) => (relation ? `${type}#${relation}` : type));
    for (const [relation, due] of Object.entries(assertions)) {
      const came = outcome(() => usersOf(graph, { object, relation, filters }, { context }));
      compare(`list_users ${filters} ${relation} ${object}`, expected(due, undefined, true), came);
    }
  }
}

async function modelOf(folder: string, file: StoreFile): Promise<Model> {
  if (file.model !== undefined) return readModel(file.model);
  if (file.model_file === undefined) throw new Error("neither 'model' nor 'model_file'");
  const path = join(folder, file.model_file);
  const text = await readFile(path, 'utf8');
  if (!path.endsWith('.mod')) return readModel(text);
  const { schema, contents } = parseYaml(text) as { readonly schema: string; readonly contents: readonly string[] };
  const read = async (name: string) => ({ name, contents: await readFile(join(dirname(path), name), 'utf8') });
  return readModules(await Promise.all(contents.map(read)), schema);
}

async function tuplesOf(folder: string, { tuples, tuple_file, tuple_files = [] }: WithTuples): Promise<Tuple[]> {
  const files = tuple_file === undefined ? tuple_files : [tuple_file, ...tuple_files];
  const read = await Promise.all(files.map((name) => readTuples(join(folder, name))));
  return [...read.flat(), ...(tuples ?? [])];
}
