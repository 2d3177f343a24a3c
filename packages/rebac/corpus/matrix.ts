import { check, createGraph, listObjects, readModel, type Tuple } from '../src/rebac.ts';
import { count, expected, outcome, type Report, type Surroundings } from './report.ts';

interface MatrixAssertion extends Surroundings {
  readonly name?: string;
  readonly tuple: Tuple;
  readonly expectation?: boolean;
  readonly errorCode?: number;
  readonly listObjectsErrorCode?: number;
}

export interface MatrixStage {
  readonly name: string;
  readonly tuples?: readonly Tuple[] | null;
  readonly checkAssertions?: readonly MatrixAssertion[] | null;
}

/** One model and many stages, each with its own tuples. */
export interface MatrixFile {
  readonly model: string;
  readonly stages: readonly MatrixStage[];
}

/** Upstream accepts any answer of ListObjects here. */
const EITHER_LIST = 'usersets_userset_cond_to_computed_cond';

/**
 * Check must give the expected answer, with stored and with contextual tuples. ListObjects must include the object, or
 * omit it, accordingly.
 */
export async function runMatrix(file: MatrixFile, report: Report): Promise<void> {
  const model = await readModel(file.model);
  for (const stage of file.stages) {
    const tuples = stage.tuples ?? [];
    const graph = createGraph(model, tuples);
    const empty = createGraph(model);
    for (const { name = '', tuple, expectation, errorCode, listObjectsErrorCode, ...around } of stage.checkAssertions ??
      []) {
      const { user, relation, object } = tuple;
      const due = expected(expectation ?? false, errorCode, false);
      const along = { ...around, contextualTuples: [...tuples, ...(around.contextualTuples ?? [])] };
      const [type = ''] = object.split(':', 1);
      const objects = outcome(() => listObjects(graph, { user, relation, type, ...around }).includes(object));
      const faults = [
        compare(
          'stored',
          due,
          outcome(() => check(graph, { user, relation, object, ...around })),
        ),
        compare(
          'contextual',
          due,
          outcome(() => check(empty, { user, relation, object, ...along })),
        ),
        stage.name.includes(EITHER_LIST)
          ? undefined
          : compare('listObjects', listObjectsErrorCode ? `error ${listObjectsErrorCode}` : due, objects),
      ].filter((fault) => fault !== undefined);
      const where = `${stage.name}/${name}: check ${user} ${relation} ${object}`;
      count(report, where, faults.length === 0 ? undefined : faults.join('; '));
    }
  }
}

function compare(how: string, due: string, came: string): string | undefined {
  return due === came ? undefined : `${how}: expected ${due}, got ${came}`;
}
