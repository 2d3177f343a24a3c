import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { anyone, callerOf, signedIn } from '../http/access.ts';
import type { Brake } from '../http/brake.ts';
import type { Cookies } from '../http/cookies.ts';
import { readCookie, SESSION_COOKIE } from '../http/credential.ts';
import { maybe, NoBody } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import { asUnknownUser, type SignIn } from './sign-in.ts';
import { presentSelf, User } from './user.view.ts';

const Credentials = Type.Object({
  username: Type.String({ maxLength: 254 }),
  password: Type.String({ maxLength: 1024 }),
  remember: maybe(Type.Boolean()),
});

interface Parts {
  readonly signIn: SignIn;
  readonly brake: Brake;
  readonly cookies: Cookies;
  readonly baseUrl: () => string;
}

export function signInRoutes(scope: Scope, { signIn, brake, cookies, baseUrl }: Parts): void {
  scope.post(
    '/user/signin',
    {
      config: { access: anyone },
      schema: {
        summary: 'Sign in: open a browser session',
        tags: ['user'],
        extension: true,
        body: Credentials,
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { username, password } = request.body;
      const remember = request.body.remember ?? false;
      try {
        const { person, session } = await brake.password(username, request.ip, () =>
          signIn.open({ username, password, remember, address: request.ip }, new Date()),
        );
        cookies.give(reply, session, remember);
        return presentSelf(person, baseUrl());
      } catch (error) {
        throw asUnknownUser(error);
      }
    },
  );

  scope.get(
    '/user/signout',
    {
      config: { access: signedIn('user') },
      schema: { summary: 'Sign out: end the browser session', tags: ['user'], response: { 200: NoBody } },
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
