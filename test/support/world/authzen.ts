import type { Answer, TestServer } from '../server/server.ts';

/** `point('ann')('evaluation', {…})`: a call below /access/v1/ORGANIZATION with the token of that user. */
export function authzenPoint(atrium: TestServer, org: string) {
  const send = (
    token: string | undefined,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
    method?: string,
  ): Promise<Answer> => {
    const credential: Record<string, string> = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    return atrium.call(method ?? 'POST', `/access/v1/${org}/${path}`, body, { ...credential, ...headers });
  };
  const as =
    (name?: string) =>
    (path: string, body?: unknown, headers?: Record<string, string>, method?: string): Promise<Answer> =>
      send(name === undefined ? undefined : atrium.world.users[name]?.token, path, body, headers, method);
  const withToken =
    (token: string) =>
    (path: string, body?: unknown, headers?: Record<string, string>, method?: string): Promise<Answer> =>
      send(token, path, body, headers, method);
  return { as, withToken };
}

/** May this user do that with this cluster? */
export function question(user: string, action: string, resource: object | number, more: object = {}): object {
  const object = typeof resource === 'number' ? { type: 'cluster', id: String(resource) } : resource;
  return { subject: { type: 'user', id: user }, action: { name: action }, resource: object, ...more };
}
