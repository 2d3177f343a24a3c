import { readFile } from 'node:fs/promises';
import { parse as parseYaml } from 'yaml';
import { type ConsolidatedFile, runConsolidated, type Stage } from './consolidated.ts';
import { type MatrixFile, type MatrixStage, runMatrix } from './matrix.ts';
import { newReport, type Report } from './report.ts';
import { runStore, type StoreFile } from './store.ts';

/** Runs a file of any known format. A file that cannot be run at all counts as one failed assertion. */
export async function runFile(path: string): Promise<Report> {
  const report = newReport();
  try {
    const file: unknown = parseYaml(await readFile(path, 'utf8'), { maxAliasCount: -1 });
    const cases = casesOf(file);
    if (isConsolidated(file)) await runConsolidated(file, report);
    else if (cases === undefined) await runStore(path, file as StoreFile, report);
    else if (cases.every(({ model, listObjectsAssertions }) => !model && !listObjectsAssertions)) {
      await runMatrix({ model: (file as MatrixFile).model, stages: cases }, report);
    } else await runConsolidated({ tests: cases.map((one) => asTest(one, (file as MatrixFile).model)) }, report);
    if (report.total === 0) throw new Error('holds no assertion');
  } catch (error) {
    report.total++;
    report.failures.push(`cannot be run: ${(error as Error).message}`);
  }
  return report;
}

function isConsolidated(file: unknown): file is ConsolidatedFile {
  const tests = (file as Partial<ConsolidatedFile> | null)?.tests;
  return Array.isArray(tests) && tests.some((test) => Array.isArray(test?.stages));
}

type Case = MatrixStage & Partial<Stage>;

/** Stages side by side in one file, each with its own model or with one model for all. */
function casesOf(file: unknown): readonly Case[] | undefined {
  if (Array.isArray(file)) return file;
  const { stages, tests, cases } = (file ?? {}) as Readonly<Record<string, readonly Case[]>>;
  const found = stages ?? cases ?? tests;
  const holds = found?.some((one) => one.checkAssertions ?? one.listObjectsAssertions ?? one.listUsersAssertions);
  return holds ? found : undefined;
}

function asTest(one: Case, model: string): ConsolidatedFile['tests'][number] {
  return { name: one.name, stages: [{ ...one, model: one.model ?? model } as Stage] };
}
