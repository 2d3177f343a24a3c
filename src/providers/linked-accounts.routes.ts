import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { actorOf, anyone, callerOf, signedIn } from '../http/admission/access.ts';
import { readCookie, SESSION_COOKIE } from '../http/admission/credential.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Scope } from '../http/server.ts';
import { NoBody, named, PathId, readId } from '../http/wire/schemas.ts';
import { reauthenticationNeeded } from '../identity/sessions/reauthentication.ts';
import type { BrowserCookies } from './browser-cookies.view.ts';
import type { LinkedAccounts } from './linked-accounts.ts';
import { LinkedInfo, presentLinked } from './links/linked-account.view.ts';
import type { ProviderLogout } from './provider-logout.ts';
import { LINK_COOKIE } from './provider-sign-in.routes.ts';
import type { ProviderSignIn } from './provider-sign-in.ts';

const LinkTarget = named(
  'LinkTarget',
  Type.Object({ url: Type.String({ description: 'Where the browser has to go to sign in at the provider.' }) }),
);
const LinkRequestInfo = named(
  'LinkRequest',
  Type.Object({
    provider: Type.String({ description: 'Name of the provider that the user has signed in with.' }),
    provider_display_name: Type.String({ description: 'What the provider is called on the sign-in page.' }),
    email: Type.String({ description: 'The address that the provider and the account have both verified.' }),
    username: Type.String({ description: 'The account that would be linked.' }),
    return_to: Type.String({ description: 'Where to go afterwards, on this server.' }),
  }),
);
const SignedOut = named(
  'SignedOut',
  Type.Object({
    url: Type.Union([Type.String(), Type.Null()], {
      description: 'Where the browser signs out at the provider, if the session was opened with one.',
    }),
  }),
);
const LINKED_PAGE = '/me/linked-accounts';

interface LinkedAccountsRoutesOptions {
  readonly linkedAccounts: LinkedAccounts;
  readonly signIn: Pick<ProviderSignIn, 'begin'>;
  /** What providers are called, by their names. */
  readonly displayNames: () => Promise<ReadonlyMap<string, string>>;
  readonly logout: Pick<ProviderLogout, 'urlFor'>;
  readonly closeSession: (text: string) => Promise<void>;
  readonly cookies: Cookies;
  readonly browserCookies: BrowserCookies;
}

export function linkedAccountRoutes(scope: Scope, parts: LinkedAccountsRoutesOptions): void {
  const { linkedAccounts, signIn, displayNames, logout, closeSession, cookies, browserCookies } = parts;
  const common = { tags: ['sign-in'], extension: true };

  scope.get(
    '/user/linked_accounts',
    {
      config: { access: signedIn('user', 'never') },
      schema: {
        ...common,
        summary: 'List the accounts at providers that the caller has linked',
        response: { 200: Type.Array(LinkedInfo) },
      },
    },
    async (request) => {
      const names = await displayNames();
      return (await linkedAccounts.list(callerOf(request).person.id)).map((link) => presentLinked(link, names));
    },
  );

  scope.post(
    '/user/linked_accounts',
    {
      config: { access: signedIn('user', 'never', { scope: 'all', proven: true }) },
      schema: {
        ...common,
        summary: 'Begin to link an account at a provider: where to sign in there',
        body: named(
          'NewLinkedAccount',
          Type.Object({ provider: Type.String({ maxLength: 100, description: 'Name of the provider.' }) }),
        ),
        errors: [403, 404, 502],
        response: { 200: LinkTarget },
      },
    },
    async (request, reply) => {
      const { person } = ownSession(request);
      const { url, cookie } = await signIn.begin(
        { provider: request.body.provider, returnTo: LINKED_PAGE, remember: false, linkTo: person.id },
        new Date(),
      );
      browserCookies.give(reply, cookie.name, cookie.value, cookie.seconds);
      return { url };
    },
  );

  scope.delete(
    '/user/linked_accounts/:id',
    {
      config: { access: signedIn('user', 'never', { scope: 'all', proven: true }) },
      schema: {
        ...common,
        summary: 'Unlink an account at a provider, and end the sessions that were opened with it',
        params: Type.Object({ id: PathId }),
        errors: [404, 409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person } = callerOf(request);
      await linkedAccounts.remove(person.id, readId(request.params.id, 'linked account ID'), actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.get(
    '/user/link_request',
    {
      config: { access: anyone },
      schema: {
        ...common,
        summary: 'Get what this browser is asked to link, after a first sign-in with a provider',
        errors: [404],
        response: { 200: LinkRequestInfo },
      },
    },
    async (request) =>
      present(linkedAccounts.requested(readCookie(request, LINK_COOKIE), new Date()), await displayNames()),
  );

  scope.post(
    '/user/link_request',
    {
      config: { access: signedIn('user', 'never', { scope: 'all', proven: true }) },
      schema: {
        ...common,
        summary: 'Link the account at the provider to the account of the session',
        errors: [404, 409],
        grows: true,
        response: { 200: LinkRequestInfo },
      },
    },
    async (request, reply) => {
      const { person } = ownSession(request);
      const ticket = readCookie(request, LINK_COOKIE);
      const linked = await linkedAccounts.accept(ticket, person, actorOf(request), new Date());
      browserCookies.clear(reply, LINK_COOKIE);
      return present(linked, await displayNames());
    },
  );

  scope.post(
    '/user/signout',
    {
      config: { access: signedIn('user', 'never', { enrolling: true }) },
      schema: {
        ...common,
        summary: 'Sign out: end the browser session, and say where to sign out at the provider',
        response: { 200: SignedOut },
      },
    },
    async (request, reply) => {
      const { session } = callerOf(request);
      const url = session && (await logout.urlFor(session.id));
      const text = readCookie(request, SESSION_COOKIE);
      if (text !== undefined) await closeSession(text);
      cookies.clear(reply);
      return { url: url ?? null };
    },
  );
}

type Request = Parameters<typeof callerOf>[0];

/**
 * Only a browser that is signed in can be sent to a provider and come back. No administrator links accounts for another user. Nor
 * does a session that was opened with a token, until its user has proven more: a stolen token must not become a way to
 * sign in.
 */
function ownSession(request: Request) {
  const caller = callerOf(request);
  if (caller.via !== 'session') throw new AppError('forbidden', 'accounts are linked in a browser session');
  if (caller.sudoBy) {
    throw new AppError('forbidden', 'accounts cannot be linked for another user', { reason: 'sudo_forbidden' });
  }
  if (caller.session?.method === 'token') throw reauthenticationNeeded();
  return caller;
}

function present(request: ReturnType<LinkedAccounts['requested']>, names: ReadonlyMap<string, string>) {
  const { provider, email, login, returnTo } = request;
  const displayName = names.get(provider) ?? provider;
  return { provider, provider_display_name: displayName, email, username: login, return_to: returnTo };
}
