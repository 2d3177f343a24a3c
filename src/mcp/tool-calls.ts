/**
 * What the tools answer.
 *
 * 1. Every reading tool is a request to the API of this server with the credential of the caller: it is admitted,
 *    limited and answered like any other, so a tool never says more.
 * 2. What does not exist and what the caller may not see are one and the same error.
 * 3. At most 50 rows of every list. `more` says whether there are more.
 */

import type { ObjectRef } from '../authz/object-ref.ts';
import type { AskedThings, AuthzenCaller } from '../authzen/asked-things.ts';
import { type AppError, reasonOf } from '../base/errors.ts';
import { readForwardObject } from '../forward/forward.ts';
import type { ToolName } from './tool-list.ts';

/** A request to the API of this server, with the credential of the caller. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly body?: object;
}

export interface ApiAnswer {
  readonly status: number;
  /** Read exactly: large IDs are bigints. */
  // biome-ignore lint/suspicious/noExplicitAny: the API declares what it answers.
  readonly body: any;
  /** Of the whole list, if the answer is a list. */
  readonly total: number | undefined;
}

export interface ToolCaller extends Omit<AuthzenCaller, 'organization'> {
  send(request: ApiRequest): Promise<ApiAnswer>;
}

export interface ToolAnswer {
  readonly isError: boolean;
  readonly content: object;
}

export type ToolArguments = Readonly<Record<string, unknown>>;

interface Parts {
  readonly things: Pick<AskedThings, 'objectOf'>;
  readonly organizationNamed: (name: string) => Promise<{ readonly id: bigint; readonly name: string } | undefined>;
}

type ReadingTool = Exclude<ToolName, 'request_access'>;

const MAX_ROWS = 50;
const HIDDEN = { status: 404, reason: 'not_found', message: 'it does not exist, or you may not see it' };

export type ToolCalls = ReturnType<typeof createToolCalls>;

export function createToolCalls({ things, organizationNamed }: Parts) {
  const tools: Readonly<Record<ReadingTool, (caller: ToolCaller, given: ToolArguments) => Promise<ToolAnswer>>> = {
    can,
    who_can: whoCan,
    access_of: accessOf,
    matrix,
    what_changed: whatChanged,
    preview_change: previewChange,
    search,
  };
  return { call, objectIn };

  async function call(caller: ToolCaller, name: ReadingTool, given: ToolArguments): Promise<ToolAnswer> {
    return await tools[name](caller, given);
  }

  async function can(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    return await about(caller, given, async (path, relation) => {
      const { user, namespace, at } = textsOf(given);
      const query = { ...orgOf(given), relation, user, namespace, at, remedies: at === undefined ? 'true' : undefined };
      return shown(await caller.send({ method: 'GET', path: `${path}/explain`, query }), (body) => ({
        allowed: body.allowed,
        sentence: body.sentence,
        ...(body.requestable && { requestable: body.requestable }),
        ...(body.remedies && {
          remedies: rows(body.remedies, ({ sentence, gains, others }) => ({ sentence, gains, others })),
        }),
        ...(body.allowed_now !== undefined && { allowed_now: body.allowed_now }),
      }));
    });
  }

  async function whoCan(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    return await about(caller, given, async (path, relation) => {
      const query = { ...orgOf(given), relation, reason: 'true', limit: String(MAX_ROWS), at: textsOf(given).at };
      const answer = await caller.send({ method: 'GET', path: `${path}/principals`, query });
      return shown(answer, (body) => ({ principals: body, ...moreOf(answer, body.length) }));
    });
  }

  /** About an object that the caller sees; otherwise it is like one that does not exist. */
  async function about(
    caller: ToolCaller,
    given: ToolArguments,
    ask: (path: string, relation: string) => Promise<ToolAnswer>,
  ): Promise<ToolAnswer> {
    const object = await objectIn(caller, given);
    if (object === undefined) return failed(HIDDEN);
    const path = `/authz/objects/${object.type}/${object.id}`;
    const wanted = String(given.relation);
    const relation = wanted.startsWith('can_') ? wanted : `can_${wanted}`;
    const seen = await caller.send({ method: 'GET', path: `${path}/explain`, query: { ...orgOf(given), relation } });
    if (seen.status === 200 && seen.body.found === false) return failed(HIDDEN);
    if (seen.status !== 200) return failed(faultIn(seen));
    return await ask(path, relation);
  }

  async function objectIn(caller: ToolCaller, { org, object }: ToolArguments): Promise<ObjectRef | undefined> {
    const organization = await organizationNamed(String(org));
    if (organization === undefined) return undefined;
    const { type, id } = readForwardObject(String(object));
    return await things.objectOf({ ...caller, organization }, { type, id: id ?? String(organization.id) });
  }

  async function accessOf(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    const { user = '', at } = textsOf(given);
    const query = { ...orgOf(given), limit: String(MAX_ROWS), at };
    const answer = await caller.send({ method: 'GET', path: `/authz/users/${encodeURIComponent(user)}/access`, query });
    return shown(answer, ({ changed_since: _, teams, roles, permissions, ...body }) => ({
      ...body,
      ...{ teams: rows(teams), roles: rows(roles), permissions: rows(permissions) },
      ...moreOf(answer, Math.min(MAX_ROWS, answer.total ?? 0)),
    }));
  }

  async function matrix(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    const { type, relations, users } = given;
    const body = { type, ...(relations !== undefined && { relations }), ...(users !== undefined && { users }) };
    const answer = await caller.send({ method: 'POST', path: '/authz/matrix', query: orgOf(given), body });
    return shown(answer, (found) => ({
      ...{ type: found.type, at: found.at, relations: found.relations },
      ...{ users: rows(found.users), objects: rows(found.objects) },
      cells: rows<unknown[]>(found.cells, (row) => rows(row)),
      more: found.users.length > MAX_ROWS || found.objects.length > MAX_ROWS,
    }));
  }

  async function whatChanged(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    const query = { ...orgOf(given), since: textsOf(given).since, limit: String(MAX_ROWS) };
    const answer = await caller.send({ method: 'GET', path: '/authz/changes', query });
    return shown(answer, (body) => ({ ...body, entries: rows(body.entries), more: body.total > MAX_ROWS }));
  }

  async function previewChange(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    const body = { changes: given.changes };
    const answer = await caller.send({ method: 'POST', path: '/authz/preview', query: orgOf(given), body });
    type Impact = { gains: unknown[]; loses: unknown[]; keeps: unknown[] };
    return shown(answer, (report) => ({
      ...report,
      users: rows<Impact>(report.users, ({ gains, loses, keeps, ...user }) => ({
        ...{ ...user, gains: rows(gains), loses: rows(loses), keeps: rows(keeps) },
      })),
      ...{ unattended: rows(report.unattended), more: report.users.length > MAX_ROWS },
    }));
  }

  async function search(caller: ToolCaller, given: ToolArguments): Promise<ToolAnswer> {
    const query = { ...orgOf(given), q: textsOf(given).q };
    return shown(await caller.send({ method: 'GET', path: '/search', query }), ({ installers: _, ...found }) => found);
  }
}

export function failed(fault: {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}): ToolAnswer {
  return { isError: true, content: { ...fault } };
}

/** A rejection of the rules, as the API would answer it. */
export function rejectionOf(error: AppError, status: number): ToolAnswer {
  return failed({ status, reason: reasonOf(error), message: error.message });
}

// biome-ignore lint/suspicious/noExplicitAny: the API declares what it answers.
function shown(answer: ApiAnswer, present: (body: any) => object): ToolAnswer {
  if (answer.status >= 400) return failed(faultIn(answer));
  return { isError: false, content: present(answer.body) };
}

function faultIn({ status, body }: ApiAnswer) {
  return { status, reason: String(body?.reason ?? ''), message: String(body?.message ?? '') };
}

// biome-ignore lint/suspicious/noExplicitAny: rows of whatever the API answers.
function rows<Row = any>(list: readonly Row[], present: (row: Row) => unknown = (row) => row): unknown[] {
  return list.slice(0, MAX_ROWS).map(present);
}

function moreOf({ total }: ApiAnswer, shownRows: number) {
  return { total: total ?? shownRows, more: (total ?? 0) > shownRows };
}

function orgOf({ org }: ToolArguments) {
  return { org: String(org) };
}

/** What the schemas declare as texts. */
function textsOf(given: ToolArguments): Readonly<Record<string, string | undefined>> {
  return given as Readonly<Record<string, string | undefined>>;
}
