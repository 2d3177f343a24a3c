import { check, type Graph, listObjects, listUsers, RebacError, type Tuple } from '../src/rebac.ts';

export interface Report {
  held: number;
  total: number;
  readonly failures: string[];
}

export function newReport(): Report {
  return { held: 0, total: 0, failures: [] };
}

export function count(report: Report, name: string, fault: string | undefined): void {
  report.total++;
  if (fault === undefined) report.held++;
  else report.failures.push(`${name}: ${fault}`);
}

export interface Surroundings {
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly contextualTuples?: readonly Tuple[] | undefined;
}

/** The result as comparable text: a boolean, a sorted list, or an error code. */
export function outcome(ask: () => boolean | readonly string[]): string {
  try {
    return show(ask());
  } catch (error) {
    if (error instanceof RebacError) return `error ${error.code}`;
    throw error;
  }
}

export function expected(expectation: unknown, errorCode: number | undefined, list: boolean): string {
  if (errorCode !== undefined && errorCode !== 0) return `error ${errorCode}`;
  if (!list) return show(expectation === true);
  const members = Array.isArray(expectation)
    ? expectation
    : ((expectation as { users?: string[] } | null)?.users ?? []);
  return show(members.map(String));
}

function show(answer: boolean | readonly string[]): string {
  return typeof answer === 'boolean' ? String(answer) : `[${[...new Set(answer)].sort().join(', ')}]`;
}

export interface ObjectsRequest {
  readonly user: string;
  readonly type: string;
  readonly relation: string;
}

export interface UsersRequest {
  readonly object: string;
  readonly relation: string;
  readonly filters: readonly string[];
}

/** As upstream: every listed object must also pass Check. */
export function objectsOf(graph: Graph, request: ObjectsRequest, around: Surroundings): string[] {
  const found = listObjects(graph, { ...request, ...around });
  for (const object of found) confirm(graph, { user: request.user, relation: request.relation, object }, around);
  return found;
}

export function usersOf(graph: Graph, { object, relation, filters }: UsersRequest, around: Surroundings): string[] {
  const found = filters.flatMap((filter) => listUsers(graph, { object, relation, filter, ...around }));
  for (const user of found) confirm(graph, { user, relation, object }, around);
  return found;
}

function confirm(graph: Graph, tuple: Tuple, around: Surroundings): void {
  if (!check(graph, { ...tuple, ...around })) throw new Error(`listed, but check denies: ${JSON.stringify(tuple)}`);
}
