import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { networkOf } from '../base/ip.ts';
import { actorOf, anyone, callerOf, signedIn } from '../http/admission/access.ts';
import type { Allowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import { maybe, named, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { AccessToken, presentToken } from '../tokens/token.view.ts';
import type { DeviceRequest, Devices } from './devices.ts';

const Started = named(
  'DeviceAuthorization',
  Type.Object({
    device_code: Type.String({ description: 'What the program polls with. Keep it secret.' }),
    user_code: Type.String({ description: 'What the program shows, and its user approves.' }),
    verification_uri: Type.String({ description: 'Where the user approves it.' }),
    verification_uri_complete: Type.String({ description: 'The same, with the code.' }),
    expires_in: Type.Integer({ description: 'Seconds until the codes expire.' }),
    interval: Type.Integer({ description: 'Seconds to wait between two polls.' }),
  }),
);
const NewDevice = named(
  'NewDeviceAuthorization',
  Type.Object({
    name: maybe(Type.String({ maxLength: 100, description: 'What the program is, such as the name of its machine.' })),
    scopes: maybe(Type.Array(Type.String(), { maxItems: 100, description: 'Scopes of the token. By default, all.' })),
  }),
);
const Waiting = named(
  'DeviceRequest',
  Type.Object({
    user_code: Type.String({ description: 'The code that the program shows.' }),
    name: Type.String({ description: 'What the program calls itself. It is not verified.' }),
    scopes: Type.Array(Type.String(), { description: 'Scopes of the token that it gets.' }),
    expires_at: Type.Unsafe<string>({ ...Timestamp, description: 'When the code expires.' }),
  }),
);
const CodePath = Type.Object({ code: Type.String({ maxLength: 20 }) });
const UNNAMED = 'a program';
const CONTROL = /[^\x20-\x7e\u00a0-\ud7ff\ue000-\ufffd]+/g;

interface DeviceRoutesParts {
  readonly devices: Devices;
  readonly baseUrl: () => string;
  /** Tokens that end until then end soon. */
  readonly soon: () => Date;
  /** Requests that one network begins. */
  readonly begun: Allowance;
  /** Unknown or expired codes that one user has tried. */
  readonly guesses: Allowance;
}

export function deviceRoutes(scope: Scope, { devices, baseUrl, soon, begun, guesses }: DeviceRoutesParts): void {
  const common = { tags: ['tokens'], extension: true };

  scope.post(
    '/user/device',
    {
      config: { access: anyone },
      schema: {
        ...common,
        summary: 'Begin to sign in a program: a code that its user approves in a browser (RFC 8628)',
        body: NewDevice,
        errors: [400],
        response: { 200: Started },
      },
    },
    async (request) => {
      take(begun, networkOf(request.ip), 'too many programs begin to sign in');
      const { name, scopes } = request.body;
      const shown = name?.replace(CONTROL, ' ').trim() || UNNAMED;
      const started = await devices.start({ name: shown, scopes: scopes ?? ['all'], address: request.ip }, new Date());
      const page = `${baseUrl()}/me/device`;
      return {
        device_code: started.deviceCode,
        user_code: started.userCode,
        verification_uri: page,
        verification_uri_complete: `${page}?code=${started.userCode}`,
        expires_in: started.seconds,
        interval: started.interval,
      };
    },
  );

  scope.post(
    '/user/device/token',
    {
      config: { access: anyone },
      schema: {
        ...common,
        summary: 'Poll for the token of a program that was signed in',
        body: named(
          'DeviceToken',
          Type.Object({
            device_code: Type.String({ maxLength: 100, description: 'As the beginning has returned it.' }),
          }),
        ),
        errors: [400],
        response: { 200: AccessToken },
      },
    },
    async (request) => {
      const token = await devices.poll(request.body.device_code, request.id, new Date());
      return presentToken(token, { text: token.text, soon: soon() });
    },
  );

  scope.get(
    '/user/device/:code',
    {
      config: { access: signedIn('user', 'never', { scope: 'all' }) },
      schema: {
        ...common,
        summary: 'Get the program that waits under a code',
        params: CodePath,
        errors: [404],
        response: { 200: Waiting },
      },
    },
    async (request) => {
      return present(await guarded(request, () => devices.find(request.params.code, new Date())));
    },
  );

  scope.post(
    '/user/device/:code',
    {
      config: { access: signedIn('user', 'never', { scope: 'all', proven: true }) },
      schema: {
        ...common,
        summary: 'Approve or deny the program that waits under a code',
        params: CodePath,
        body: named('DeviceDecision', Type.Object({ approve: Type.Boolean({ description: 'False denies it.' }) })),
        errors: [404],
        response: { 200: Waiting },
      },
    },
    async (request) => {
      const { person, session, sudoBy, tokenId } = callerOf(request);
      // A token must not become another one that outlives it, and no user signs in programs for another one.
      if (session === undefined || tokenId !== undefined) {
        throw new AppError('forbidden', 'programs are approved in a browser session that was not opened with a token');
      }
      if (sudoBy) {
        throw new AppError('forbidden', 'programs cannot be approved for another user', { reason: 'sudo_forbidden' });
      }
      const { code } = request.params;
      const now = new Date();
      return await guarded(request, async () => {
        const found = await devices.find(code, now);
        const said = { sessionId: session.id, isApproved: request.body.approve, actor: actorOf(request) };
        await devices.decide(code, person, said, now);
        return present(found);
      });
    },
  );

  /** So that no code is found by trying. */
  async function guarded<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const key = String(callerOf(request).person.id);
    take(guesses, key, 'too many wrong codes');
    const result = await work();
    guesses.give(key);
    return result;
  }
}

function present({ userCode, name, scopes, expiresAt }: DeviceRequest) {
  return { user_code: userCode, name, scopes: [...scopes], expires_at: timestamp(expiresAt) };
}

function take(allowance: Allowance, key: string, message: string): void {
  const now = performance.now();
  if (allowance.take(key, now)) return;
  throw new AppError('limited', `${message}, try again later`, { retryAfter: allowance.wait(key, now) });
}
