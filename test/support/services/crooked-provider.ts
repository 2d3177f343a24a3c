import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** What a test can change about the ID token. */
export interface TokenOptions {
  readonly claims?: JWTPayload;
  readonly alg?: 'ES256' | 'HS256' | 'none';
  readonly kid?: string;
  /** Signs with a key that nobody publishes. */
  readonly isForged?: boolean;
}

export type CrookedProvider = Awaited<ReturnType<typeof startCrookedProvider>>;

export const SECRET = 'a secret of the crooked client';

/**
 * A provider that does what a test wants: every page of it can be replaced, and every token it signs is what the test
 * asks for. A browser never goes there.
 */
export async function startCrookedProvider() {
  const pages = new Map<string, Handler>();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    asked.push(path);
    const page = pages.get(path);
    if (page) page(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let key = await newKey();
  const stranger = await newKey();
  reset();
  return { issuer, pages, asked, reset, json, answer, idToken, rotate, sign, close };

  /** Everything as it should be. */
  function reset(): void {
    pages.clear();
    asked.length = 0;
    json('/.well-known/openid-configuration', {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      end_session_endpoint: `${issuer}/logout`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
    });
    json('/jwks', { keys: [key.published] });
  }

  function json(path: string, body: unknown, status = 200): void {
    pages.set(path, (_request, response) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
  }

  /** What the token endpoint answers. */
  async function answer(nonce: string, options: TokenOptions = {}): Promise<void> {
    json('/token', { access_token: 'x', token_type: 'Bearer', id_token: await idToken(nonce, options) });
  }

  async function idToken(nonce: string, { claims = {}, ...how }: TokenOptions = {}): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const times = { iat: now, exp: now + 300 };
    const about = { iss: issuer, aud: 'atrium', sub: 'crook', email: 'crook@example.com', email_verified: true };
    return await sign({ ...about, ...times, nonce, ...claims }, how);
  }

  async function sign(payload: JWTPayload, { alg = 'ES256', kid = key.kid, isForged = false }: TokenOptions = {}) {
    if (alg === 'none') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg })}.${part(payload)}.`;
    }
    const header = { alg, kid, ...(payload.events !== undefined && { typ: 'logout+jwt' }) };
    const signer = new SignJWT(payload).setProtectedHeader(header);
    if (alg === 'HS256') return await signer.sign(Buffer.from(SECRET));
    return await signer.sign((isForged ? stranger : key).secret);
  }

  /** From now on, tokens are signed with another key. The old one is not published any more. */
  async function rotate(): Promise<void> {
    key = await newKey();
    json('/jwks', { keys: [key.published] });
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

let keys = 0;

async function newKey() {
  const { privateKey: secret, publicKey } = await generateKeyPair('ES256');
  const kid = `key ${++keys}`;
  return { secret, kid, published: { ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' } };
}
