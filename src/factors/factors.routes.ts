import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { actorOf, type Caller, callerOf, signedIn } from '../http/admission/access.ts';
import { readCookie } from '../http/admission/credential.ts';
import { CEREMONY_COOKIE, type Cookies } from '../http/cookies.ts';
import type { Scope } from '../http/server.ts';
import { NoBody, named, PathId, readId, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { reauthenticationNeeded } from '../identity/sessions/reauthentication.ts';
import type { Factors } from './factors.ts';
import {
  CeremonyOptions,
  FactorList,
  Passkey,
  PasskeyCreation,
  presentFactors,
  presentPasskey,
  RecoveryCodes,
  readCreation,
} from './factors.view.ts';
import type { Passkeys } from './passkeys.ts';
import type { Totps } from './totp.ts';

interface FactorsRoutesOptions {
  readonly factors: Factors;
  readonly passkeys: Passkeys;
  readonly totps: Totps;
  readonly cookies: Pick<Cookies, 'giveCeremony'>;
}

const AddedPasskey = named(
  'AddedPasskey',
  Type.Object({ passkey: Passkey, recovery_codes: Type.Optional(RecoveryCodes) }),
);
const NewTotp = named(
  'NewAuthenticatorApp',
  Type.Object({
    secret: Type.String({ description: 'What to type into the app, if it cannot read the QR code; base32.' }),
    uri: Type.String({ description: 'What the QR code says.' }),
    enrollment: Type.String({ description: 'To be sent back with the first code.' }),
    expires_at: Timestamp,
  }),
);
const FirstCode = named(
  'FirstCode',
  Type.Object({
    enrollment: Type.String({ maxLength: 1000, description: 'From the response with the secret.' }),
    code: Type.String({ maxLength: 40, description: 'The code that the app shows now.' }),
  }),
);
const NewCodes = named('NewRecoveryCodes', Type.Object({ recovery_codes: RecoveryCodes }));
const MaybeCodes = named('AddedAuthenticatorApp', Type.Object({ recovery_codes: Type.Optional(RecoveryCodes) }));

/** What users have besides a password, as they manage it themselves. */
export function factorRoutes(scope: Scope, { factors, passkeys, totps, cookies }: FactorsRoutesOptions): void {
  const tags = ['user'];
  const change = { config: { access: signedIn('user', 'never', { scope: 'all', proven: true, enrolling: true }) } };
  const Id = Type.Object({ id: PathId });

  scope.get(
    '/user/factors',
    {
      config: { access: signedIn('user', 'never', { enrolling: true }) },
      schema: {
        summary: 'List the second factors of the caller',
        tags,
        extension: true,
        response: { 200: FactorList },
      },
    },
    async (request) => {
      const { person } = callerOf(request);
      const isRequired = await factors.isRequired(person);
      return presentFactors(await factors.summary(person.id), { isRequired, isAvailable: passkeys.isAvailable() });
    },
  );

  scope.post(
    '/user/factors/passkeys/options',
    {
      ...change,
      schema: {
        summary: 'Get what a browser needs to create a passkey',
        tags,
        extension: true,
        errors: [409],
        response: { 200: CeremonyOptions },
      },
    },
    async (request, reply) => {
      const { person } = await themselves(request);
      const { options, challenge } = await passkeys.creation(person, new Date());
      cookies.giveCeremony(reply, { text: challenge.browser, expiresAt: challenge.expiresAt });
      return { publicKey: options as { challenge: string } };
    },
  );

  scope.post(
    '/user/factors/passkeys',
    {
      ...change,
      schema: {
        summary: 'Add the passkey that the browser has created',
        tags,
        extension: true,
        body: PasskeyCreation,
        errors: [409, 422],
        response: { 200: AddedPasskey },
      },
    },
    async (request) => {
      const { person, session } = await themselves(request);
      const shown = { browser: readCookie(request, CEREMONY_COOKIE), keptSession: session?.id };
      const wanted = readCreation(request.body);
      const { card, recoveryCodes } = await passkeys
        .add(person, wanted, shown, actorOf(request), new Date())
        .catch((error: unknown) => {
          throw asInvalid(error);
        });
      return { passkey: presentPasskey(card), ...(recoveryCodes && { recovery_codes: [...recoveryCodes] }) };
    },
  );

  scope.patch(
    '/user/factors/passkeys/:id',
    {
      ...change,
      schema: {
        summary: 'Rename a passkey',
        tags,
        extension: true,
        params: Id,
        body: named('RenamePasskey', Type.Object({ name: Type.String({ description: '1 to 60 characters.' }) })),
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person } = await themselves(request);
      const id = readId(request.params.id, 'passkey ID');
      await factors.rename(person, id, request.body.name, actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.delete(
    '/user/factors/passkeys/:id',
    {
      ...change,
      schema: {
        summary: 'Remove a passkey',
        tags,
        extension: true,
        params: Id,
        errors: [409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person } = await themselves(request);
      await factors.remove(person, readId(request.params.id, 'passkey ID'), actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.post(
    '/user/factors/totp',
    {
      ...change,
      schema: {
        summary: 'Get a new secret for an authenticator app; nothing is stored yet',
        tags,
        extension: true,
        response: { 200: NewTotp },
      },
    },
    async (request) => {
      const { secret, uri, enrollment, expiresAt } = totps.propose((await themselves(request)).person, new Date());
      return { secret, uri, enrollment, expires_at: timestamp(expiresAt) };
    },
  );

  scope.put(
    '/user/factors/totp',
    {
      ...change,
      schema: {
        summary: 'Add the authenticator app, or replace it, with the first code that it shows',
        tags,
        extension: true,
        body: FirstCode,
        response: { 200: MaybeCodes },
      },
    },
    async (request) => {
      const { person, session } = await themselves(request);
      const codes = await totps.add(person, request.body, session?.id, actorOf(request), new Date());
      return codes === undefined ? {} : { recovery_codes: [...codes] };
    },
  );

  scope.delete(
    '/user/factors/totp',
    {
      ...change,
      schema: {
        summary: 'Remove the authenticator app',
        tags,
        extension: true,
        errors: [404, 409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await factors.remove((await themselves(request)).person, 'totp', actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.post(
    '/user/factors/recovery_codes',
    {
      ...change,
      schema: {
        summary: 'Replace the recovery codes; those before stop working',
        tags,
        extension: true,
        errors: [409],
        response: { 200: NewCodes },
      },
    },
    async (request) => {
      const codes = await factors.renewRecoveryCodes((await themselves(request)).person, actorOf(request));
      return { recovery_codes: [...codes] };
    },
  );

  /**
   * The user in person, not an administrator on their behalf, and not a program with their token: a stolen token must
   * not become a way to sign in. A session that was opened with a token counts once its user has proven more than that,
   * if there is more: a password, a second factor, or an account at a provider.
   */
  async function themselves(request: FastifyRequest): Promise<Caller> {
    const caller = callerOf(request);
    const { person, via, session, sudoBy } = caller;
    if (sudoBy !== undefined) {
      const message = 'second factors cannot be changed on behalf of another user';
      throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
    }
    if (via === 'token') throw new AppError('forbidden', 'second factors are changed in a session, not with a token');
    const hasMore = async () =>
      person.passwordHash !== null || person.secondFactors.length > 0 || (await factors.isLinked(person.id));
    if (session?.method === 'token' && (await hasMore())) throw reauthenticationNeeded();
    return caller;
  }
}

/** The caller is known, so an answer of the browser that is wrong is a fault of the body. */
function asInvalid(error: unknown): unknown {
  if (!(error instanceof AppError && error.kind === 'unauthenticated')) return error;
  const { message, detail } = error;
  return new AppError('malformed', message, { ...detail, errors: [{ field: 'response', message }] });
}
