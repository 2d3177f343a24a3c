import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError, invalidField } from '../base/errors.ts';
import { actorOf, anyone, type Caller, callerOf, signedIn } from '../http/admission/access.ts';
import { readCookie, SESSION_COOKIE } from '../http/admission/credential.ts';
import { CEREMONY_COOKIE, type Cookies, TICKET_COOKIE } from '../http/cookies.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { maybe, NoBody, named } from '../http/wire/schemas.ts';
import type { Sessions } from '../identity/sessions/sessions.ts';
import type { Opened, SignIn } from '../users/sign-in.ts';
import { presentSelf, User } from '../users/user.view.ts';
import type { Challenge } from './challenges.ts';
import { CeremonyOptions, PasskeyAssertion, Proofs, readAnswer, readAssertion } from './factors.view.ts';
import type { SecondStep } from './second-step.ts';

interface SecondStepRoutesOptions {
  readonly secondStep: SecondStep;
  readonly sessions: Pick<Sessions, 'prove'>;
  readonly signIn: Pick<SignIn, 'closeReplaced'>;
  readonly cookies: Cookies;
  readonly baseUrl: () => string;
}

/** The second step of a sign-in, a sign-in with a passkey, and proving again who one is. */
export function secondStepRoutes(
  scope: Scope,
  { secondStep, sessions, signIn, cookies, baseUrl }: SecondStepRoutesOptions,
): void {
  const tags = ['user'];

  scope.post(
    '/user/signin/factor',
    {
      config: { access: anyone },
      schema: {
        summary: 'Finish signing in with a second factor',
        tags,
        extension: true,
        body: named('SecondFactor', Type.Object(Proofs)),
        errors: [401, 403, 409],
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const answer = readAnswer(request.body);
      if (answer === undefined) throw exactlyOne('code, recovery_code, passkey');
      const shown = { ticket: readCookie(request, TICKET_COOKIE), ceremony: readCookie(request, CEREMONY_COOKIE) };
      return await welcome(
        request,
        reply,
        await secondStep.finish(answer, shown, browserOf(request), request.id, new Date()),
      );
    },
  );

  scope.post(
    '/user/signin/passkey/options',
    {
      preValidation: dropAbsent(),
      config: { access: anyone },
      schema: {
        summary: 'Get what a browser needs to sign in with a passkey, or to finish signing in with one',
        tags,
        extension: true,
        optionalBody: true,
        body: named(
          'PasskeyRequest',
          Type.Object({
            second_step: maybe(
              Type.Boolean({ description: 'Whether the password was right already, and the passkey comes second.' }),
            ),
          }),
        ),
        errors: [401, 409],
        response: { 200: CeremonyOptions },
      },
    },
    async (request, reply) => {
      const ticket = request.body.second_step === true ? (readCookie(request, TICKET_COOKIE) ?? '') : undefined;
      return offer(reply, await secondStep.offerPasskey(ticket, new Date()));
    },
  );

  scope.post(
    '/user/signin/passkey',
    {
      config: { access: anyone },
      schema: {
        summary: 'Sign in with a passkey: open a browser session',
        tags,
        extension: true,
        body: named('PasskeySignIn', Type.Object({ passkey: PasskeyAssertion, remember: maybe(Type.Boolean()) })),
        errors: [401, 403, 409],
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { passkey, remember } = request.body;
      const around = { remember: remember ?? false, from: browserOf(request), now: new Date() };
      const ceremony = readCookie(request, CEREMONY_COOKIE);
      return await welcome(request, reply, await secondStep.openWithPasskey(readAssertion(passkey), ceremony, around));
    },
  );

  scope.post(
    '/user/reauthenticate/options',
    {
      config: { access: signedIn('user', 'never', { enrolling: true }) },
      schema: {
        summary: 'Get what a browser needs to prove with a passkey who the caller is',
        tags,
        extension: true,
        errors: [409],
        response: { 200: CeremonyOptions },
      },
    },
    async (request, reply) => {
      const { person, session } = inSession(request);
      return offer(reply, await secondStep.offerToCaller(person, session.id, new Date()));
    },
  );

  scope.post(
    '/user/reauthenticate',
    {
      config: { access: signedIn('user', 'never', { enrolling: true }) },
      schema: {
        summary: 'Prove again who the caller is, in a session; with a second factor, if there is one',
        tags,
        extension: true,
        body: named(
          'Reauthentication',
          Type.Object({
            password: Type.Optional(Type.String({ maxLength: 1024 })),
            code: Proofs.code,
            passkey: Proofs.passkey,
          }),
        ),
        errors: [409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person, session } = inSession(request);
      const { password, ...others } = request.body;
      const answer = readAnswer(others);
      const given = password === undefined ? answer : Object.keys(others).length > 0 ? undefined : { password };
      if (given === undefined) throw exactlyOne('password, code, passkey');
      const now = new Date();
      const around = {
        sessionId: session.id,
        ceremony: readCookie(request, CEREMONY_COOKIE),
        address: request.ip,
        actor: actorOf(request),
      };
      const method = await secondStep.prove(person, given, around, now).catch((error: unknown) => {
        throw asInvalid(error, Object.keys(given)[0] ?? '');
      });
      await sessions.prove(person.id, session.id, method, now);
      return reply.code(204).send();
    },
  );

  /** The session that the browser had before is replaced, so it ends. */
  async function welcome(request: FastifyRequest, reply: FastifyReply, { person, session }: Opened) {
    await signIn.closeReplaced(readCookie(request, SESSION_COOKIE));
    cookies.give(reply, session);
    cookies.clearTicket(reply);
    return presentSelf(person, baseUrl());
  }

  function offer(reply: FastifyReply, { options, challenge }: { options: object; challenge: Challenge }) {
    cookies.giveCeremony(reply, { text: challenge.browser, expiresAt: challenge.expiresAt });
    return { publicKey: options as { challenge: string } };
  }
}

function browserOf(request: FastifyRequest) {
  return { ip: request.ip, userAgent: request.headers['user-agent'] ?? '' };
}

/** Only a session remembers when its user was last seen to be themselves. */
function inSession(request: FastifyRequest): Caller & { readonly session: NonNullable<Caller['session']> } {
  const caller = callerOf(request);
  const { session, sudoBy } = caller;
  if (sudoBy !== undefined) {
    const message = 'a user can only prove who they are for themselves';
    throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
  }
  if (session === undefined) throw new AppError('forbidden', 'only a session needs this: a token is a proof by itself');
  return { ...caller, session };
}

function exactlyOne(names: string): AppError {
  const message = `exactly one of these is required: ${names}`;
  return new AppError('malformed', message, { errors: [{ field: 'body', message }] });
}

/** A 401 would say that the session has ended. */
function asInvalid(error: unknown, field: string): unknown {
  if (!(error instanceof AppError && error.kind === 'unauthenticated')) return error;
  if (field === 'password') return invalidField('password', 'the password is wrong', 'wrong_password');
  return invalidField(field, error.message, error.detail.reason);
}
