import * as oidc from 'openid-client';
import type { GuardedFetch } from '../../base/outbound/guarded-fetch.ts';
import type { OidcConnection, OidcConnections } from '../oidc-connections.client.ts';
import { oidcRejectionIn, plainMessage, quoteOidcError } from '../oidc-fault.client.ts';
import type { KnownProvider } from '../providers.ts';
import type { ProviderTester, TestStep } from './provider-test.ts';

interface ProviderTestOptions {
  readonly fetch: GuardedFetch;
  readonly connections: Pick<OidcConnections, 'discover'>;
  readonly redirectUri: (name: string) => string;
}

const MAX_CAUSES = 5;

/** Tries what can be tried without a person: metadata, keys, and whether the provider knows the client and its secret. */
export function createProviderTester({ fetch, connections, redirectUri }: ProviderTestOptions): ProviderTester {
  return { test };

  async function test(known: KnownProvider): Promise<readonly TestStep[]> {
    let connection: OidcConnection;
    try {
      connection = await connections.discover(known);
    } catch (error) {
      return [failed('discovery', `the metadata of the issuer cannot be used: ${chainOf(error)}`)];
    }
    const { config } = connection;
    const { issuer, backchannel_logout_supported: hasLogout } = config.serverMetadata();
    const logout = hasLogout === true ? 'and' : 'but does not say that it';
    const found = ok('discovery', `${issuer} answers, ${logout} sends logout notices`);
    return [found, await testKeys(connection), await testClient(known, connection)];
  }

  async function testKeys({ config }: OidcConnection): Promise<TestStep> {
    try {
      const answer = await fetch(config.serverMetadata().jwks_uri ?? '');
      const { keys } = (await answer.json()) as { keys?: unknown };
      const count = Array.isArray(keys) ? keys.length : 0;
      return count > 0 ? ok('keys', `${count} published`) : failed('keys', 'none is published');
    } catch (error) {
      return failed('keys', `the keys cannot be read: ${chainOf(error)}`);
    }
  }

  /** With a code that the provider never issued. A provider that complains about the code has accepted the client before. */
  async function testClient({ provider, clientSecret }: KnownProvider, { config }: OidcConnection): Promise<TestStep> {
    const what = clientSecret === undefined ? 'the client, which has no secret' : 'the client and its secret';
    try {
      const url = new URL(`${redirectUri(provider.name)}?code=test&state=test`);
      const { issuer } = config.serverMetadata();
      url.searchParams.set('iss', issuer);
      await oidc.authorizationCodeGrant(config, url, { expectedState: 'test', pkceCodeVerifier: 'v'.repeat(43) });
      return { step: 'client', result: 'unknown', message: 'the provider accepts a code that it has not given' };
    } catch (error) {
      const rejection = await oidcRejectionIn(error);
      if (!rejection) return failed('client', `the token endpoint cannot be used: ${chainOf(error)}`);
      const words = quoteOidcError(rejection.error, rejection.description);
      if (rejection.error === 'invalid_grant') return ok('client', `the provider accepts ${what}`);
      const isRejected = rejection.status === 401 || /^(?:invalid|unauthorized)_client$/.test(rejection.error);
      if (isRejected) return failed('client', `the provider does not accept ${what}: ${words}`);
      return {
        step: 'client',
        result: 'unknown',
        message: `the provider does not say whether it accepts ${what}: ${words}`,
      };
    }
  }
}

function ok(step: TestStep['step'], message: string): TestStep {
  return { step, result: 'ok', message };
}

function failed(step: TestStep['step'], message: string): TestStep {
  return { step, result: 'failed', message };
}

/** For administrators, who may know which address was called and what went wrong there. */
function chainOf(error: unknown): string {
  const said: string[] = [];
  for (let one = error; one instanceof Error && said.length < MAX_CAUSES; one = one.cause) {
    const { code } = one as { code?: unknown };
    said.push(plainMessage(one) || String(code ?? one.name));
  }
  return said.length === 0 ? 'for a reason that it does not tell' : said.join(': ');
}
