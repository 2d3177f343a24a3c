import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError, reasonOf } from '../base/errors.ts';
import { networkOf } from '../base/ip.ts';
import { safeText } from '../base/log.ts';
import { anyone } from '../http/admission/access.ts';
import { readCookie, SESSION_COOKIE } from '../http/admission/credential.ts';
import type { Cookies } from '../http/cookies.ts';
import { STATUS, toAppError } from '../http/error-format.ts';
import type { Allowance } from '../http/limits/allowance.ts';
import { logOf, type Scope } from '../http/server.ts';
import { named } from '../http/wire/schemas.ts';
import type { Callers } from '../identity/callers.ts';
import { signInMethods } from '../identity/sessions/proof-kinds.ts';
import type { HalfSignedIn } from '../identity/sign-in-ticket.ts';
import type { BrowserCookies } from './browser-cookies.view.ts';
import type { ProviderStates } from './checks/provider-state.ts';
import type { Asking } from './oidc.ts';
import type { ProviderLogout } from './provider-logout.ts';
import { localPath, type ProviderSignIn } from './provider-sign-in.ts';
import type { Providers } from './providers.ts';
import { type AnotherAccount, faultPage, PAGE_POLICY } from './sign-in-page.view.ts';
import type { SignInRejections } from './sign-in-rejections.ts';

const Listed = named(
  'SignInProvider',
  Type.Object({
    name: Type.String({ description: 'The name in addresses.' }),
    display_name: Type.String({ description: 'What the button on the sign-in page says.' }),
    url: Type.String({ description: 'Where a browser begins to sign in.' }),
    remember: Type.Boolean({ description: 'Whether "Keep me signed in" counts.' }),
  }),
);

export const LINK_COOKIE = 'atrium_link';
/** Where the console asks whether to link an account, and where it lists those that are. */
const LINK_PAGE = '/signin/link';

interface ProviderSignInRoutesOptions {
  readonly providers: Pick<Providers, 'open'>;
  readonly signIn: ProviderSignIn;
  readonly logout: Pick<ProviderLogout, 'receive'>;
  readonly rejections: SignInRejections;
  readonly states: Pick<ProviderStates, 'note'>;
  readonly callers: Pick<Callers, 'bySession'>;
  readonly closeReplaced: (text: string | undefined) => Promise<void>;
  readonly cookies: Cookies;
  readonly browserCookies: BrowserCookies;
  /** Failed sign-ins of one network. */
  readonly failures: Allowance;
}

interface ProviderPath {
  readonly Params: { readonly provider: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
}

export function providerSignInRoutes(scope: Scope, parts: ProviderSignInRoutesOptions): void {
  const { providers, signIn, logout, rejections, states, callers, closeReplaced, cookies, browserCookies, failures } =
    parts;
  const hidden = { config: { access: anyone }, schema: { hide: true } };

  scope.get(
    '/user/providers',
    {
      config: { access: anyone },
      schema: {
        summary: 'List the OpenID Connect providers that people can sign in with',
        tags: ['sign-in'],
        extension: true,
        response: { 200: Type.Array(Listed) },
      },
    },
    async () =>
      (await providers.open()).map(({ name, displayName, allowRemember }) => ({
        name,
        display_name: displayName,
        url: `/api/v1/user/signin/${name}`,
        remember: allowRemember,
      })),
  );

  scope.get<ProviderPath>('/user/signin/:provider', hidden, async (request, reply) =>
    asPage(request, reply, async () => {
      const { remember } = request.query;
      const { provider } = request.params;
      const [asking, returnTo] = [askingIn(request.query), returnIn(request.query)];
      try {
        const invitation = invitationIn(request.query);
        const wanted = { provider, returnTo, remember: remember === 'true', asking, invitation };
        const started = await signIn.begin(wanted, new Date());
        const { url, cookie } = started;
        browserCookies.give(reply, cookie.name, cookie.value, cookie.seconds);
        return reply.redirect(url, 302);
      } catch (error) {
        // The user has not asked for this: the sign-in page says what else there is.
        if (asking !== 'silent' || !(error instanceof AppError)) throw error;
        return reply.redirect(silentlyFailed(returnTo), 302);
      }
    }),
  );

  scope.get<ProviderPath>('/user/signin/:provider/callback', hidden, async (request, reply) =>
    asPage(request, reply, async () => {
      const query = request.url.split('?', 2)[1] ?? '';
      browserCookies.clearPending(reply, new URLSearchParams(query).get('state') ?? '');
      const { ip, headers, id: requestId } = request;
      const finished = await signIn.finish(
        {
          provider: request.params.provider,
          query,
          cookie: (name) => readCookie(request, name),
          browser: { ip, userAgent: headers['user-agent'] ?? '' },
          signedInAs: () => accountOf(request),
          requestId,
        },
        new Date(),
      );
      if (finished.kind === 'ask') {
        browserCookies.give(reply, LINK_COOKIE, finished.ticket, finished.seconds);
        return reply.redirect(LINK_PAGE, 302);
      }
      if (finished.kind === 'not signed in') return reply.redirect(silentlyFailed(finished.returnTo), 302);
      if (finished.kind === 'half signed in') {
        cookies.giveTicket(reply, finished.half);
        return reply.redirect(secondStepPage(finished.half, finished.returnTo), 302);
      }
      if (finished.kind === 'signed in') {
        await closeReplaced(readCookie(request, SESSION_COOKIE));
        cookies.give(reply, finished.session);
      }
      return reply.redirect(finished.returnTo, 302);
    }),
  );

  // Only providers send a form.
  scope.register(async (forms: Scope) => {
    const type = 'application/x-www-form-urlencoded';
    forms.addContentTypeParser(
      type,
      { parseAs: 'string', bodyLimit: MAX_FORM },
      async (_request: unknown, body: string) => Object.fromEntries(new URLSearchParams(body)),
    );
    forms.post<ProviderPath>(
      '/user/signin/:provider/backchannel_logout',
      { ...hidden, bodyLimit: MAX_FORM },
      async (request, reply) => {
        const { logout_token: token } = (request.body ?? {}) as { logout_token?: unknown };
        if (typeof token !== 'string' || token === '') throw new AppError('invalid', 'logout_token is required');
        try {
          await counted(request, () => logout.receive(request.params.provider, token, request.id, new Date()));
        } catch (error) {
          // The provider has to send another one, whatever is wrong with this one.
          throw error instanceof AppError && error.kind === 'forbidden'
            ? new AppError('invalid', error.message, error.detail)
            : error;
        }
        return reply.code(200).send();
      },
    );
  });

  async function accountOf(request: FastifyRequest): Promise<bigint | undefined> {
    const text = readCookie(request, SESSION_COOKIE);
    if (text === undefined) return undefined;
    const grant = await callers.bySession(text, new Date()).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === 'unauthenticated') return undefined;
      throw error;
    });
    return grant?.person.id;
  }

  /** A browser shows what it gets, so it gets a page. */
  async function asPage(request: FastifyRequest<ProviderPath>, reply: FastifyReply, work: () => Promise<FastifyReply>) {
    try {
      return await counted(request, work);
    } catch (thrown) {
      const error = toAppError(thrown);
      const cause = error.detail.cause ?? thrown;
      if (STATUS[error.kind] >= 500) {
        const facts = { err: cause, reason: reasonOf(error), why: safeText(error.message) };
        logOf(request).warn(facts, 'a sign-in with a provider failed');
      }
      if (error.detail.retryAfter !== undefined)
        reply.header('Retry-After', String(Math.ceil(error.detail.retryAfter)));
      return reply
        .code(STATUS[error.kind])
        .header('Content-Security-Policy', PAGE_POLICY)
        .type('text/html; charset=utf-8')
        .send(faultPage(error, request.id, await signInAgain(request)));
    }
  }

  /** A user who came with the wrong account has to be able to choose another: the provider remembers the wrong one. */
  async function signInAgain({ params, query }: FastifyRequest<ProviderPath>): Promise<AnotherAccount | undefined> {
    const provider = (await providers.open()).find(({ name }) => name === params.provider);
    const more = new URLSearchParams({
      another: 'true',
      ...(returnIn(query) && { return_to: localPath(returnIn(query)) }),
    });
    return provider && { url: `/api/v1/user/signin/${provider.name}?${more}`, displayName: provider.displayName };
  }

  /** Failures are recorded, and counted: no client can fill the audit log, or have a provider called all day. */
  async function counted<T>(request: FastifyRequest<ProviderPath>, work: () => Promise<T>): Promise<T> {
    const network = networkOf(request.ip);
    const now = performance.now();
    if (!failures.take(network, now)) {
      const retryAfter = failures.wait(network, now);
      throw new AppError('limited', 'too many failed sign-ins, try again later', { retryAfter });
    }
    let hasFailed = true;
    try {
      const result = await work();
      hasFailed = false;
      return result;
    } catch (error) {
      if (rejections.isRecorded(error)) await rejections.record(request.params.provider, error, request.id);
      await states.note(request.params.provider, error, new Date());
      throw error;
    } finally {
      if (!hasFailed) failures.give(network);
    }
  }
}

const MAX_FORM = 64 * 1024;

function askingIn(query: ProviderPath['Querystring']): Asking | undefined {
  if (query.silent === 'true') return 'silent';
  if (query.another === 'true') return 'another account';
  return query.again === 'true' ? 'again' : undefined;
}

function returnIn({ return_to: returnTo }: ProviderPath['Querystring']): string | undefined {
  return typeof returnTo === 'string' ? returnTo : undefined;
}

/** Kept in a cookie, so it must be no longer than codes are. */
function invitationIn({ invitation }: ProviderPath['Querystring']): string | undefined {
  return typeof invitation === 'string' && /^[\w-]{1,64}$/.test(invitation) ? invitation : undefined;
}

/** The console does not try again by itself. */
function silentlyFailed(returnTo: string | undefined): string {
  return `/signin?${new URLSearchParams({ return_to: localPath(returnTo), silent: 'failed' })}`;
}

/** Where the console asks for the second factor. */
function secondStepPage({ factors }: HalfSignedIn, returnTo: string): string {
  const query = new URLSearchParams({ methods: signInMethods(factors).join(','), return_to: returnTo });
  return `/signin?${query}`;
}
