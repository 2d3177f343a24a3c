import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';

type Claims = Record<string, unknown>;
type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>;

/** Where the issuer of a test may be called. */
export const LOOPBACK = { OIDC_ALLOWED_NETWORKS: '127.0.0.0/8' };

export type FakeIssuer = Awaited<ReturnType<typeof startFakeIssuer>>;

/**
 * An issuer of tokens on loopback, as a build platform or a Kubernetes cluster is one. What it answers can be replaced, so
 * that it can also be a hostile one.
 */
export async function startFakeIssuer() {
  const keys = new Map<string, KeyPair>();
  const published: JWK[] = [];
  const asked: string[] = [];
  /** Answers in place of the usual ones, by path. */
  const answers = new Map<
    string,
    (respond: (status: number, body: string, headers?: Record<string, string>) => void) => void
  >();
  /** Paths whose answer begins immediately and never ends. */
  const trickles = new Set<string>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const respond = (status: number, body: string, headers: Record<string, string> = {}) =>
      void response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body);
    const usual: Record<string, unknown> = {
      '/.well-known/openid-configuration': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys: published },
    };
    const answer = answers.get(path);
    if (trickles.has(path)) trickle(response);
    else if (answer) answer(respond);
    else if (path in usual) respond(200, JSON.stringify(usual[path]));
    else respond(404, '{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await addKey('first', 'RS256');
  return { url, published, asked, answers, trickles, addKey, keyOf, claims, sign, signText, token, jwks, close };

  function trickle(response: ServerResponse): void {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    const timer = setInterval(() => response.write(' '), 200);
    response.on('close', () => clearInterval(timer));
  }

  async function addKey(kid: string, alg = 'ES256'): Promise<KeyPair> {
    const pair = await generateKeyPair(alg, { extractable: true });
    keys.set(kid, pair);
    published.push({ ...(await exportJWK(pair.publicKey)), kid, alg, use: 'sig' });
    return pair;
  }

  function keyOf(kid: string): KeyPair {
    const pair = keys.get(kid);
    if (!pair) throw new Error(`there is no key ${kid}`);
    return pair;
  }

  /** What a build of the default branch says. Undefined leaves a claim out. */
  function claims(audience: string, more: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: url,
      aud: audience,
      sub: 'repo:acme/app:ref:refs/heads/main',
      iat: now,
      exp: now + 300,
      jti: crypto.randomUUID(),
      repository_id: '123',
      ref: 'refs/heads/main',
      ...more,
    };
  }

  async function sign(said: Claims, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const whole = { alg: 'RS256', kid: 'first', typ: 'JWT', ...header };
    return await new SignJWT(said).setProtectedHeader(whole).sign(keyOf(whole.kid ?? 'first').privateKey);
  }

  /** Claims as they are written, which need not be what JSON.stringify would write. */
  async function signText(said: string): Promise<string> {
    const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: 'first', typ: 'JWT' })).toString('base64url');
    const text = `${head}.${Buffer.from(said).toString('base64url')}`;
    const { privateKey } = keyOf('first');
    const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(text));
    return `${text}.${Buffer.from(bytes).toString('base64url')}`;
  }

  async function token(
    audience: string,
    more: Claims = {},
    header: Partial<JWTHeaderParameters> = {},
  ): Promise<string> {
    return await sign(claims(audience, more), header);
  }

  function jwks(): { keys: JWK[] } {
    return { keys: [...published] };
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}
