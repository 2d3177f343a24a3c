import assert from 'node:assert/strict';
import type { Answer, Call, TestServer } from '../server/server.ts';
import { assign, openPlace } from '../world/assignments.ts';
import { callWith, makeRobot } from '../world/robots.ts';

/** Certificates that nothing is verified with: tests need some that can be parsed. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBgTCCASegAwIBAgIUNt6igJhF8qTW6Qh21NgasfTkoOswCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAgFw0yNjExMTgyMDA5MjhaGA8yMTI2MTAy
NTIwMDkyOFowFTETMBEGA1UEAwwKa3ViZXJuZXRlczBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABDCNhrnfLhOfLOxitjTzFFQRh+gTUhndF9R0RjyvJ4RWFfh2rFm8
OO2APJFvIh6jYqmpwiX7/LLjHHjgVGH/DIejUzBRMB0GA1UdDgQWBBQK6bkYdTly
VTrLitymUDtYMhtVRjAfBgNVHSMEGDAWgBQK6bkYdTlyVTrLitymUDtYMhtVRjAP
BgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0gAMEUCIQCYnHsWfM5KG5xC0yHL
1uI6U4UMCYdO8/ltD6j1u1AAiAIgGHMVjruXeg9CQF2zIrNrwKNUQV+poNRGz4By
k9EdkFs=
-----END CERTIFICATE-----
`;
export const OTHER_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBdzCCAR2gAwIBAgIUbGnUKgp3czjDM5TrtVDa//fCDhMwCgYIKoZIzj0EAwIw
EDEOMAwGA1UEAwwFb3RoZXIwIBcNMjYxMTE4MjAwOTI4WhgPMjEyNjEwMjUyMDA5
MjhaMBAxDjAMBgNVBAMMBW90aGVyMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
ck4XjtXka4mppDgzsRgROdW+4xlKD9eCGTZLEXqwnaEw6L2CjMkBNrZyEcgb2CXK
3DLyblHX9qRhSoBc0f8AcKNTMFEwHQYDVR0OBBYEFBCZMtxfQkyZdyKeN4Qcua8g
q8mZMB8GA1UdIwQYMBaAFBCZMtxfQkyZdyKeN4Qcua8gq8mZMA8GA1UdEwEB/wQF
MAMBAf8wCgYIKoZIzj0EAwIDSAAwRQIhALInmFT6Cdb+y0abor0ztiG47AGppvBv
Tgttncak3sH7AiAcfvo+qSk8uKvRww6GMLoH5XojdQAd82mCY2E8x0Mr8A==
-----END CERTIFICATE-----
`;

export type KubePlace = Awaited<ReturnType<typeof openKubePlace>>;

/** An organization whose cluster `prod` is governed by its API server, with the robot of that API server. */
export async function openKubePlace(atrium: TestServer) {
  const place = await openPlace(atrium);
  const { call, prod, org, owner } = place;
  const governed = await call('PATCH', `/clusters/${prod.id}`, { kubernetes: { auth: 'webhook' } });
  assert.equal(governed.status, 200, governed.text);
  const reviewer = await place.role('reviewer', 'cluster_mgmt review requests');
  const limits = { objects: [{ type: 'cluster', id: prod.id }] };
  const robot = await makeRobot(atrium, 'kube-prod', {
    org: org.name,
    owner: owner.name,
    scopes: ['read:authz'],
    limits,
  });
  await assign(place, reviewer.id, { type: 'robot_ac', id: robot.id }, { type: 'cluster', id: prod.id });
  const uid = governed.body.uid as string;
  return { ...place, reviewer, robotAccount: robot, api: robot.call, uid, atrium };
}

export const resource = (verb: string, what: string, more: object = {}) => {
  const [path = '', namespace] = what.split('@');
  const [full = '', subresource] = path.split('/');
  const [name = '', ...group] = full.split('.');
  return {
    resourceAttributes: {
      verb,
      version: 'v1',
      resource: name,
      ...(subresource !== undefined && { subresource }),
      ...(group.length > 0 && { group: group.join('.') }),
      ...(namespace !== undefined && { namespace }),
      ...more,
    },
  };
};

export const path = (verb: string, text: string) => ({ nonResourceAttributes: { verb, path: text } });

export async function accessReview(
  { api, prod }: { readonly api: Call; readonly prod: { readonly id: number } },
  spec: object,
): Promise<{ allowed: boolean; denied?: boolean; reason?: string }> {
  const answer = await api('POST', `/clusters/${prod.id}/access-review`, sar(spec));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.body.apiVersion, answer.body.kind], ['authorization.k8s.io/v1', 'SubjectAccessReview']);
  return answer.body.status;
}

export const sar = (spec: object) => ({ apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec });
export const review = (spec: object) => ({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec });

export async function tokenReview(
  { api, prod }: { readonly api: Call; readonly prod: { readonly id: number } },
  spec: object,
): Promise<Answer['body']> {
  const answer = await api('POST', `/clusters/${prod.id}/token-review`, review(spec));
  assert.equal(answer.status, 200, answer.text);
  return answer.body.status;
}

export async function kubeToken(call: Call, cluster: number): Promise<string> {
  const answer = await call('POST', `/clusters/${cluster}/kube-token`);
  assert.equal(answer.status, 201, answer.text);
  return answer.body.token;
}

interface TokenTraits {
  readonly scopes?: readonly string[];
  /** The clusters that it is limited to, and the organization that owns them. */
  readonly objects?: readonly number[];
  readonly organizations?: readonly bigint[];
  readonly ownerId?: bigint;
  readonly expiresAt?: Date;
}

/** A further token of a user. */
export async function tokenOf(
  atrium: TestServer,
  name: string,
  { scopes = ['all'], objects = [], organizations = [], ownerId = 0n, expiresAt }: TokenTraits,
): Promise<{ id: bigint; text: string; call: Call }> {
  const isLimited = objects.length + organizations.length > 0;
  const limits = {
    organizations: organizations.map((id) => ({ id, name: '' })),
    objects: objects.map((id) => ({ type: 'cluster' as const, id: BigInt(id), name: '', ownerId })),
  };
  const { id, text } = await atrium.instance.identity.tokens.issue({
    accountId: atrium.world.users[name]?.id ?? assert.fail(name),
    name: `t${Math.random()}`,
    scopes,
    ...(isLimited && { limits }),
    ...(expiresAt && { expiresAt }),
  });
  return { id, text, call: callWith(atrium, text) };
}
