import assert from 'node:assert/strict';
import type { TestServer } from '../server/server.ts';
import type { Pair } from './authz.ts';

export interface WireChange {
  readonly action: string;
  readonly id?: number;
  readonly team?: number;
  readonly username?: string;
  readonly role?: {
    readonly id?: number;
    readonly name?: string;
    readonly permissions?: Pair[];
    readonly teamIDs?: number[];
  };
  readonly to?: { readonly type: string; readonly id: number; readonly name: string };
  readonly on?: { readonly type: string; readonly id: number; readonly name: string };
}

export interface WireRemedy {
  readonly change: { readonly changes: readonly WireChange[] };
  readonly sentence: string;
  readonly gains: number;
  readonly others: number;
  readonly other_objects: number;
  readonly future_objects: boolean;
  readonly reach: string;
  readonly allowed: boolean;
  readonly rejected_by?: { readonly id: number; readonly name: string; readonly sentence: string };
  readonly required: Required & { readonly also?: readonly Required[] };
}

interface Required {
  readonly objectType: string;
  readonly objectID: number;
  readonly relation: string;
}

type Call = ReturnType<TestServer['as']>;

/** Makes a change through the API. Returns what undoes it, or the status of a rejection. */
export async function make(call: Call, org: string, change: WireChange): Promise<number | (() => Promise<void>)> {
  const { action, id, team, username, role, to, on } = change;
  const query = `?org=${org}`;
  if (action === 'assignment.create') {
    const made = await call('POST', `/authz/assignments${query}`, { role, to, on });
    return made.status === 201 ? () => done(call, 'DELETE', `/authz/assignments/${made.body.id}${query}`) : made.status;
  }
  if (action === 'role.create') {
    const made = await call('POST', `/authz/roles${query}`, role);
    return made.status === 201 ? () => done(call, 'DELETE', `/authz/roles/${made.body.id}${query}`) : made.status;
  }
  if (action === 'role.update') {
    const before = (await call('GET', `/authz/roles/${id}${query}`)).body;
    const { status } = await call('PUT', `/authz/roles/${id}${query}`, role);
    const { permissions } = before;
    return status === 200 ? () => done(call, 'PUT', `/authz/roles/${id}${query}`, { permissions }) : status;
  }
  const path = action === 'role.assign' ? `/teams/${team}/roles/${id}` : `/teams/${id}/members/${username}`;
  const { status } = await call('PUT', path);
  return status < 300 ? () => done(call, 'DELETE', path) : status;
}

async function done(call: Call, method: string, path: string, body?: unknown): Promise<void> {
  const answer = await call(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
}
