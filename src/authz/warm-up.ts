import { allowed, createGraph, type Model } from '../../packages/rebac/src/rebac.ts';
import { yieldToEventLoop } from '../base/scheduling/slices.ts';

type Permissions = readonly { readonly relation: string }[];

/** PostgreSQL plans a statement anew for the first five times, and then may keep a plan. */
const LOADS = 6;
const ROUNDS = 8;
const TEAMS = 60;
const MEMBERS = 20;
const ROLES = 60;
const ASSIGNEES = 6;
/** With these there are more edges than a graph settles in one go, so that the code for it runs too. */
const CLUSTERS = 1500;
const IN_SLICE = 500;

/**
 * What the first question to a process would otherwise wait for: connections to the database that know the statement,
 * and compiled code. Nothing depends on it. What fails here fails again, and is reported, when a request needs it.
 */
export async function warmUp(load: () => Promise<unknown>, model: Model, permissions: Permissions): Promise<void> {
  // A question is often about two graphs, which are read side by side.
  await Promise.allSettled([repeat(load), repeat(load), compile(model, permissions)]);
}

async function repeat(load: () => Promise<unknown>): Promise<void> {
  for (let time = 0; time < LOADS; time++) await load();
}

/**
 * Builds a few graphs of an organization that does not exist, and asks about it. The engine compiles code that has run
 * for a while; until then it takes several times as long, and the first callers of a process would wait for it.
 */
async function compile(model: Model, permissions: Permissions): Promise<void> {
  const { lines, count } = imaginaryOrganization(permissions);
  for (let round = 0; round < ROUNDS; round++) {
    const graph = createGraph(model);
    for (const _ of graph.loadLines(lines, count, IN_SLICE)) await yieldToEventLoop();
    for (let member = 0; member < MEMBERS; member++) {
      allowed(graph, `user:${1000 + member}`, `cluster:${3000 + member}`, { prefix: 'can_' });
    }
    await yieldToEventLoop();
  }
}

/** With numbers as long as real ones. */
export function imaginaryOrganization(permissions: Permissions): { lines: string; count: number } {
  const organization = 'organization:1000';
  const lines: string[] = [`${organization} platform platform:atrium account:1000`];
  for (let team = 1000; team < 1000 + TEAMS; team++) {
    const source = `team:${team}`;
    lines.push(`team:${team} organization ${organization} ${source}`);
    lines.push(`${organization} participant team:${team}#member ${source}`);
    lines.push(`team:${team} member user:${numbers(team, MEMBERS)} ${source}`);
  }
  for (let role = 2000; role < 2000 + ROLES; role++) {
    const source = `role:${role}`;
    lines.push(`role:${role} organization ${organization} ${source}`);
    for (const [at, { relation }] of permissions.entries()) {
      if ((role + at) % 4 === 0) lines.push(`${organization} ${relation} role:${role}#assignee ${source}`);
    }
    lines.push(`role:${role} assignee team:${numbers(1000, ASSIGNEES)}#member ${source}`);
  }
  for (let cluster = 3000; cluster < 3000 + CLUSTERS; cluster++) {
    lines.push(`cluster:${cluster} organization ${organization} cluster:${cluster}`);
  }
  const count = lines.length + TEAMS * (MEMBERS - 1) + ROLES * (ASSIGNEES - 1);
  return { lines: lines.join('\n'), count };
}

function numbers(first: number, count: number): string {
  return Array.from({ length: count }, (_, at) => first + at).join();
}
