import Type, { type Static } from 'typebox';
import { AppError, type FieldFault } from '../base/errors.ts';
import { anyone, callerOf, signedIn } from '../http/admission/access.ts';
import { readCookie, SESSION_COOKIE } from '../http/admission/credential.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Brake } from '../http/limits/brake.ts';
import type { Scope } from '../http/server.ts';
import { maybe, NoBody, named } from '../http/wire/schemas.ts';
import type { HalfSignedIn } from '../identity/sign-in-ticket.ts';
import { asUnknown, type SignIn, secondFactorNeeded } from './sign-in.ts';
import { presentSelf, User } from './user.view.ts';

const Credentials = named(
  'SignIn',
  Type.Object({
    username: maybe(Type.String({ maxLength: 254, description: 'Login name or email address, with a password.' })),
    password: maybe(Type.String({ maxLength: 1024 })),
    token: maybe(
      Type.String({
        maxLength: 254,
        description:
          'Instead of a name and a password: a personal access token with the scope all. The session ends with it.',
      }),
    ),
    remember: maybe(Type.Boolean()),
  }),
);

interface SignInRoutesOptions {
  readonly signIn: SignIn;
  readonly brake: Brake;
  readonly cookies: Cookies;
  readonly baseUrl: () => string;
}

export function signInRoutes(scope: Scope, { signIn, brake, cookies, baseUrl }: SignInRoutesOptions): void {
  scope.post(
    '/user/signin',
    {
      config: { access: anyone },
      schema: {
        summary: 'Sign in: open a browser session',
        tags: ['sign-in'],
        extension: true,
        body: Credentials,
        errors: [401, 403, 404],
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const proof = readProof(request.body);
      const remember = request.body.remember ?? false;
      const { ip } = request;
      const browser = { ip, userAgent: request.headers['user-agent'] ?? '' };
      let half: HalfSignedIn;
      try {
        const opened =
          'token' in proof
            ? await brake.token(ip, () => signIn.openWithToken({ ...proof, remember, browser }, new Date()))
            : await brake.password(proof.username, ip, () => signIn.open({ ...proof, remember, browser }, new Date()));
        if ('session' in opened) {
          await signIn.closeReplaced(readCookie(request, SESSION_COOKIE));
          cookies.give(reply, opened.session);
          return presentSelf(opened.person, baseUrl());
        }
        half = opened;
      } catch (error) {
        throw asUnknown('token' in proof ? 'token' : 'user', error);
      }
      cookies.giveTicket(reply, half);
      throw secondFactorNeeded(half);
    },
  );

  scope.get(
    '/user/signout',
    {
      config: { access: signedIn('user', 'never', { enrolling: true }) },
      schema: { summary: 'Sign out: end the browser session', tags: ['sign-in'], response: { 200: NoBody } },
    },
    async (request, reply) => {
      // The only GET that changes something: another site must not be able to sign users out with a link.
      const isForged = request.headers['sec-fetch-site'] === 'cross-site';
      if (isForged && callerOf(request).via === 'session')
        throw new AppError('forbidden', 'cross-site request rejected');
      const text = readCookie(request, SESSION_COOKIE);
      if (text !== undefined) await signIn.close(text);
      cookies.clear(reply);
      return reply.code(200).send();
    },
  );
}

/** Either a token, or a name and a password. */
type Proof = { readonly token: string } | { readonly username: string; readonly password: string };

function readProof({ username, password, token }: Static<typeof Credentials>): Proof {
  const hasToken = typeof token === 'string';
  const names = ['username', 'password'] as const;
  const given = { username, password };
  const faults = names.flatMap((field): FieldFault[] => {
    const isGiven = typeof given[field] === 'string';
    if (isGiven !== hasToken) return [];
    if (hasToken) return [{ field, message: `${field} cannot be combined with token` }];
    return [{ field, message: given[field] === null ? `${field} must be string` : `${field} is required` }];
  });
  // One at a time, as for any other body.
  const [first] = faults;
  if (first) throw new AppError('malformed', first.message, { errors: [first] });
  return hasToken ? { token } : { username: username ?? '', password: password ?? '' };
}
