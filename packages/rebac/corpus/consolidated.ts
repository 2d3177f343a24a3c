import { check, createGraph, type Graph, type Model, readModel, type Tuple } from '../src/rebac.ts';
import {
  count,
  expected,
  type ObjectsRequest,
  objectsOf,
  outcome,
  type Report,
  type Surroundings,
  type UsersRequest,
  usersOf,
} from './report.ts';

interface Assertion extends Surroundings {
  readonly expectation?: unknown;
  readonly errorCode?: number;
}

export interface Stage {
  readonly model: string;
  readonly tuples?: readonly Tuple[] | null;
  readonly checkAssertions?: readonly (Assertion & { readonly tuple: Tuple })[] | null;
  readonly listObjectsAssertions?: readonly (Assertion & { readonly request: ObjectsRequest })[] | null;
  readonly listUsersAssertions?: readonly (Assertion & { readonly request: UsersRequest })[] | null;
}

export interface ConsolidatedFile {
  readonly tests: readonly { readonly name: string; readonly stages: readonly Stage[] }[];
}

/** The maximum number of contextual tuples in a request upstream. */
const MAX_CONTEXTUAL = 100;

/**
 * The stages of a test share one store: tuples accumulate, and the model of a stage replaces the previous one. A test
 * with one stage runs twice if its tuples fit into a request: once with its tuples stored, and once with the same
 * tuples sent as contextual tuples. An assertion holds if it holds both times.
 */
export async function runConsolidated(file: ConsolidatedFile, report: Report): Promise<void> {
  const models = new Map<string, Model>();
  for (const { name, stages } of file.tests) {
    const stored: Tuple[] = [];
    for (const [index, stage] of stages.entries()) {
      const model = models.get(stage.model) ?? (await readModel(stage.model));
      models.set(stage.model, model);
      const tuples = (stage.tuples ?? []).map(plain);
      stored.push(...tuples);
      const ways: Way[] = [{ how: 'stored', graph: createGraph(model, stored), along: [] }];
      if (stages.length === 1 && tuples.length > 0 && tuples.length <= MAX_CONTEXTUAL) {
        ways.push({ how: 'contextual', graph: createGraph(model), along: tuples });
      }
      runStage(stages.length === 1 ? name : `${name} (stage ${index + 1})`, stage, ways, report);
    }
  }
}

interface Way {
  readonly how: string;
  readonly graph: Graph;
  readonly along: readonly Tuple[];
}

type Ask = (graph: Graph, around: Surroundings) => boolean | readonly string[];

function runStage(name: string, stage: Stage, ways: readonly Way[], report: Report): void {
  const hold = (what: string, assertion: Assertion, list: boolean, ask: Ask): void => {
    const due = expected(assertion.expectation, assertion.errorCode, list);
    const faults = ways.flatMap(({ how, graph, along }) => {
      const contextualTuples = [...along, ...(assertion.contextualTuples ?? []).map(plain)];
      const came = outcome(() => ask(graph, { context: assertion.context, contextualTuples }));
      return came === due ? [] : [`${how}: expected ${due}, got ${came}`];
    });
    count(report, `${name}: ${what}`, faults.length === 0 ? undefined : faults.join('; '));
  };
  for (const assertion of stage.checkAssertions ?? []) {
    const { tuple } = assertion;
    hold(`check ${tuple.user} ${tuple.relation} ${tuple.object}`, assertion, false, (graph, around) =>
      check(graph, { ...plain(tuple), ...around }),
    );
  }
  for (const assertion of stage.listObjectsAssertions ?? []) {
    const { request } = assertion;
    hold(`listObjects ${request.user} ${request.relation} ${request.type}`, assertion, true, (graph, around) =>
      objectsOf(graph, request, around),
    );
  }
  for (const assertion of stage.listUsersAssertions ?? []) {
    const { request } = assertion;
    hold(`listUsers ${request.filters} ${request.relation} ${request.object}`, assertion, true, (graph, around) =>
      usersOf(graph, request, around),
    );
  }
}

function plain({ user, relation, object, condition }: Tuple): Tuple {
  return { user, relation, object, condition: condition ?? undefined };
}
