import assert from 'node:assert/strict';
import { existsSync, globSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, test } from 'node:test';
import { parse as parseYaml } from 'yaml';
import { runFile } from '../corpus/file.ts';
import { readModel, readModelJson, readModules } from '../src/model.ts';
import { type ModelJson, parseSyntax } from '../src/syntax.ts';
import { readObject } from '../src/tuple.ts';

/**
 * The corpora are not part of the project. They are in `shared/fga-tests` next to this checkout or in a folder above
 * it, or in FGA_TESTS.
 */
function findCorpora(): string | undefined {
  if (process.env.FGA_TESTS) return resolve(process.env.FGA_TESTS);
  for (let folder = resolve(import.meta.dirname, '../../..'); ; folder = dirname(folder)) {
    const candidate = join(folder, 'shared/fga-tests');
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) return;
  }
}

const corpora = findCorpora();
const skip = corpora === undefined && 'NO CORPORA: shared/fga-tests was not found; set FGA_TESTS to run them';
if (skip) process.stdout.write(`# ${skip}\n`);
const root = corpora ?? '.';
const language = join(root, 'language/tests/data');

/** Relations that are computed from each other. The language's checker accepts them. The server rejects them; so do we. */
const LOOPS = /^union does not require all child to have entry/;

interface Case {
  readonly name: string;
  readonly dsl: string;
  readonly skip?: boolean;
  readonly expected_errors?: readonly { readonly msg: string; readonly line?: { readonly start: number } }[];
}

describe('Public OpenFGA corpora', { skip }, () => {
  test('Every assertion in the OpenFGA test and store files holds', async () => {
    const files = skip
      ? []
      : globSync(['openfga/*.yaml', 'sample-stores/**/*.fga.yaml', 'language/tests/data/stores/0[01]*/*.yaml'], {
          cwd: root,
        });
    const failures: string[] = [];
    let total = 0;
    for (const file of files.sort()) {
      const report = await runFile(join(root, file));
      total += report.total;
      failures.push(...report.failures.map((failure) => `${file}: ${failure}`));
    }
    process.stdout.write(`# ${total - failures.length}/${total} assertions hold in ${files.length} files\n`);
    assert.deepEqual(failures, []);
    assert.ok(total >= 1288, `only ${total} assertions were found`);
  });

  for (const file of ['dsl-syntax-validation-cases.yaml', 'dsl-semantic-validation-cases.yaml']) {
    test(`Models in ${file} are accepted or rejected as upstream expects, with line and error`, async () => {
      const cases = parseYaml(await readFile(join(language, file), 'utf8')) as Case[];
      let refused = 0;
      for (const { name, dsl, skip: skipped, expected_errors: errors = [] } of cases) {
        // What upstream skips are loops that its checker misses.
        if (skipped || LOOPS.test(name)) {
          await assert.rejects(readModel(dsl), /^RebacError: line \d+: .*\(potential loop\)/, name);
          refused++;
          continue;
        }
        if (errors.length === 0) {
          await assert.doesNotReject(readModel(dsl), name);
          continue;
        }
        await assert.rejects(readModel(dsl), (error: Error) => {
          const [first] = errors;
          assert.ok(first && error.message.includes(first.msg), `${name}: ${error.message} lacks ${first?.msg}`);
          if (first.line)
            assert.ok(error.message.includes(`line ${first.line.start + 1}: `), `${name}: ${error.message}`);
          return true;
        });
        refused++;
      }
      process.stdout.write(`# ${file}: ${refused} refused, ${cases.length - refused} accepted\n`);
    });
  }

  test('Models in the DSL are transformed into the JSON that upstream expects', async () => {
    const folders = await readdir(join(language, 'transformer'));
    for (const folder of folders) {
      const read = (name: string) => readFile(join(language, 'transformer', folder, name), 'utf8');
      const json = JSON.parse(await read('authorization-model.json')) as ModelJson;
      const due = { ...json, type_definitions: json.type_definitions ?? [] };
      const came = await parseSyntax(await read('authorization-model.fga'));
      assert.deepEqual(JSON.parse(JSON.stringify(came)), due, folder);
    }
    assert.ok(folders.length >= 29);
  });

  test('Model modules are combined or rejected as upstream expects', async () => {
    for (const folder of await readdir(join(language, 'transformer-module'))) {
      const at = join(language, 'transformer-module', folder);
      const names = globSync('module/**/*.fga', { cwd: at }).sort();
      const files = await Promise.all(
        names.map(async (name) => ({
          name: relative('module', name),
          contents: await readFile(join(at, name), 'utf8'),
        })),
      );
      if (existsSync(join(at, 'expected_errors.json'))) await assert.rejects(readModules(files), folder);
      else if (files.length > 0) await assert.doesNotReject(readModules(files), folder);
      else {
        const json = JSON.parse(await readFile(join(at, 'authorization-model.json'), 'utf8'));
        await assert.rejects(readModelJson(json), {
          message: 'condition a_check: `a_check` condition is not used in the model.',
        });
      }
    }
  });

  test('Models in JSON are accepted or rejected as upstream expects', async () => {
    type JsonCase = { name: string; json: string; expected_errors?: readonly { readonly msg: string }[] | null };
    const cases = parseYaml(await readFile(join(language, 'json-validation-cases.yaml'), 'utf8')) as JsonCase[];
    for (const { name, json, expected_errors } of cases) {
      const errors = expected_errors ?? [];
      const read = readModelJson(JSON.parse(json) as ModelJson);
      if (errors.length === 0) await assert.doesNotReject(read, name);
      else await assert.rejects(read, (error: Error) => error.message.includes(errors[0]?.msg ?? ''), name);
    }
  });

  test('Object IDs are accepted or rejected as upstream expects, except that commas are allowed', async () => {
    type IdCase = { readonly name: string; readonly object_id: string; readonly valid: boolean };
    const cases = parseYaml(await readFile(join(language, 'object-id-validation-cases.yaml'), 'utf8')) as IdCase[];
    const model = await readModel('model\n  schema 1.1\ntype document\n');
    const differing = cases.filter(
      ({ object_id, valid }) => (typeof readObject(model, `document:${object_id}`) !== 'string') !== valid,
    );
    // The server accepts any ID without white space, `:` and `#`, and so do we. The language's checker is stricter in
    // one case.
    assert.deepEqual(
      differing.map(({ name }) => name.slice(0, 14)),
      ['invalid: comma'],
    );
  });

  test('A store file without a model has no passing assertions', async () => {
    const report = await runFile(join(language, 'stores/02-missing-model/store.fga.yaml'));
    assert.equal(report.held, 0);
  });
});
