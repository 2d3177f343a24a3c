import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';

/** What the provider says about somebody. */
export interface ProviderPerson {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly preferred_username?: string;
  readonly groups?: readonly string[];
}

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

interface Context {
  readonly oidc: {
    readonly client: { readonly clientId: string };
    readonly session: { grantIdFor(clientId: string): string | undefined; readonly accountId: string };
    readonly provider: Library;
    readonly params: Readonly<Record<string, unknown>>;
  };
}

interface Library {
  readonly Grant: new (
    of: object,
  ) => {
    addOIDCScope(scope: string): void;
    save(): Promise<string>;
  };
  on(event: string, listener: (context: unknown, error: Error) => void): void;
  callback(): Handler;
  interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<object>;
  interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
}

/** The package has no types. */
const DAY_S = 86_400;
const PACKAGE: string = 'oidc-provider';

export const CLIENT = { id: 'atrium', secret: 'a secret of the client' };

export type RealProvider = Awaited<ReturnType<typeof startRealProvider>>;

/**
 * `oidc-provider`, a certified OpenID provider, on loopback. Whoever comes to it signs in as the person who is set, without
 * being asked. Its clients are set when the addresses of the server are known.
 */
export async function startRealProvider() {
  const { default: Provider } = (await import(PACKAGE)) as {
    default: new (issuer: string, options: object) => Library;
  };
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  const faults: Error[] = [];
  const people = new Map<string, ProviderPerson>();
  let handler: Handler = (_request, response) => response.writeHead(503).end();
  const server = createServer((request, response) => void handler(request, response));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let who = '';
  /** Those who cannot sign in any more. Sessions that the provider has of them end. */
  const disabled = new Set<string>();
  /** The paths that were asked for, in order. */
  const asked: string[] = [];
  const state = { isAway: false };
  return { issuer, people, disabled, asked, state, faults, serve, serveWith, signInAs, close };

  /** The person who signs in next. */
  function signInAs(subject: string, person?: ProviderPerson): void {
    who = subject;
    if (person) people.set(subject, person);
  }

  /** `url` is that of the server, and `names` are those that it knows the provider by. */
  async function serve(url: string, ...names: string[]): Promise<void> {
    await serveWith(url, names);
  }

  /** With refresh tokens that work once, as providers give them that can be asked again. */
  async function serveWith(url: string, names: readonly string[], { refreshes = false } = {}): Promise<void> {
    const at = (name: string) => `${url}/api/v1/user/signin/${name}`;
    const [first = ''] = names;
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: names.map((name) => `${at(name)}/callback`),
          post_logout_redirect_uris: [`${url}/signin`],
          backchannel_logout_uri: `${at(first)}/backchannel_logout`,
          backchannel_logout_session_required: true,
          id_token_signed_response_alg: 'ES256',
          grant_types: ['authorization_code', ...(refreshes ? ['refresh_token'] : [])],
        },
      ],
      jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: 'ES256', use: 'sig', kid: 'first' }] },
      adapter: await memoryAdapter(),
      cookies: { keys: ['a key of the test'] },
      claims: {
        openid: ['sub', 'sid'],
        email: ['email', 'email_verified'],
        profile: ['name', 'preferred_username', 'groups'],
      },
      findAccount: (_context: unknown, subject: string) =>
        disabled.has(subject)
          ? undefined
          : { accountId: subject, claims: () => ({ ...people.get(subject), sub: subject }) },
      issueRefreshToken: () => refreshes,
      rotateRefreshToken: true,
      interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      loadExistingGrant,
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: { enabled: true, logoutSource },
      },
      ttl: {
        Session: refreshes ? DAY_S : 3600,
        Interaction: 600,
        Grant: DAY_S,
        IdToken: 600,
        AccessToken: 600,
        RefreshToken: DAY_S,
      },
      // Its own refuses to call loopback, where our servers are.
      fetch: (url: string, { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown }) =>
        fetch(url, options),
    });
    provider.on('backchannel.error', (_context, error) => faults.push(error));
    provider.on('server_error', (_context, error) => faults.push(error));
    const callback = provider.callback();
    handler = async (request, response) => {
      asked.push(request.url ?? '');
      if (state.isAway) return response.writeHead(503).end();
      if (!request.url?.startsWith('/interaction/')) return callback(request, response);
      await provider.interactionFinished(request, response, { login: { accountId: who } });
    };
  }

  async function close(): Promise<void> {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
}

/** Its own, which it uses anyway, but not without a warning. */
async function memoryAdapter(): Promise<unknown> {
  const { default: Memory } = (await import(`${PACKAGE}/lib/adapters/memory_adapter.js`)) as {
    default: new (name: string) => object;
  };
  return class extends Memory {};
}

/** Everybody consents to everything. */
async function loadExistingGrant({ oidc }: Context) {
  const { provider, session, client, params } = oidc;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(String(params.scope));
  await grant.save();
  return grant;
}

/** The form that asks whether to sign out; a test sends it. */
function logoutSource(context: { body: string }, form: string): void {
  context.body = `<!doctype html>${form}`;
}
