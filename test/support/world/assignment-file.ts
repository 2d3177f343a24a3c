import assert from 'node:assert/strict';
import type { Answer, Call, TestServer } from '../server/server.ts';
import { openPlace } from './assignments.ts';

export type FilePlace = Awaited<ReturnType<typeof openFilePlace>>;

/** An organization whose roles and assignments are in files. */
export async function openFilePlace(atrium: TestServer) {
  const place = await openPlace(atrium);
  const { org } = place;
  const operator = {
    name: 'cluster-operator',
    permissions: { cluster_mgmt: ['view clusters', 'connect to clusters'], org_mgmt: ['view members'] },
  };
  /** The role that is there, and these assignments. */
  const fileOf = (assignments: unknown, more: object = {}) => ({
    ...{ apiVersion: 'atrium/v1', kind: 'Roles', organization: org.name, roles: [operator], assignments },
    ...more,
  });
  const bring = async (call: Call, document: object, query = '', headers: Record<string, string> = {}) =>
    await call('PUT', `/authz/roles/import?org=${org.name}${query}`, document, headers);
  const brought = async (document: object, query = ''): Promise<Answer['body']> => {
    const answer = await bring(place.call, document, query);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const exported = async (call = place.call, query = ''): Promise<Answer> => {
    const answer = await call('GET', `/authz/roles/export?org=${org.name}${query}`);
    assert.equal(answer.status, 200, answer.text);
    return answer;
  };
  /** Without teams that have a role in the whole organization. */
  const listed = async (): Promise<string[]> => {
    const { body } = await place.call('GET', `${place.path}&limit=50`);
    return body.map(
      ({ role, to, on, reason, expires_at }: Listed) =>
        `${role.name} ${to.type} ${to.name} ${on.type} ${on.name} ${expires_at ?? 'never'} ${reason}`,
    );
  };
  return { ...place, operatorEntry: operator, fileOf, bring, brought, exported, listed };
}

interface Listed {
  readonly role: { readonly name: string };
  readonly to: { readonly type: string; readonly name: string };
  readonly on: { readonly type: string; readonly name: string };
  readonly reason: string;
  readonly expires_at: string | null;
}
