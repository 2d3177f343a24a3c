import type { FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { AppError } from '../base/errors.ts';
import { networkOf } from '../base/ip.ts';
import { actorOf, anyone, signedIn } from '../http/admission/access.ts';
import type { Allowance } from '../http/limits/allowance.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { Line, named } from '../http/wire/schemas.ts';
import { presentSelf, User } from '../users/user.view.ts';
import type { Users } from '../users/users.ts';
import { JoinedResponse, OpenInvitation, presentJoined, presentOpen } from './invitation.view.ts';
import type { InvitationAcceptance } from './invitation-acceptance.ts';

const CodePath = Type.Object({ code: Type.String({ maxLength: 100 }) });
const Acceptance = named(
  'InvitationAcceptance',
  Type.Object({
    other_address: Type.Optional(
      Type.Boolean({ description: 'Join although the invitation is for an address that is not one of the account.' }),
    ),
    username: Type.Optional(Type.String({ description: 'Name of the new account. Only without a credential.' })),
    password: Type.Optional(Type.String({ description: '8 to 255 characters. Only without a credential.' })),
    full_name: Type.Optional(Type.Unsafe<string>({ ...Line(100), description: 'Full name of the new account.' })),
  }),
);

interface Parts {
  readonly acceptance: InvitationAcceptance;
  readonly users: Pick<Users, 'person'>;
  readonly baseUrl: () => string;
  /** Codes that one network has tried and that do not exist. */
  readonly guesses: Allowance;
}

/** Invitations, for those who are invited. */
export function invitationAcceptanceRoutes(scope: Scope, { acceptance, users, baseUrl, guesses }: Parts): void {
  const common = { tags: ['invitations'], extension: true, strictQuery: true };

  scope.get(
    '/invitations/:code',
    {
      config: { access: anyone },
      schema: {
        ...common,
        summary: 'Get the invitation behind a link: the organization, the inviter and the address',
        params: CodePath,
        errors: [410],
        response: { 200: OpenInvitation },
      },
    },
    async (request) => await guarded(request, async () => presentOpen(await acceptance.find(request.params.code))),
  );

  scope.post(
    '/invitations/:code/accept',
    {
      preValidation: dropAbsent(),
      config: { access: signedIn('user', 'never', { scope: 'all', orAnonymous: true }) },
      schema: {
        ...common,
        summary: 'Accept an invitation: as the signed-in user, or without a credential by creating an account',
        params: CodePath,
        body: Acceptance,
        optionalBody: true,
        errors: [410],
        response: { 200: JoinedResponse, 201: User },
      },
    },
    async (request, reply) => {
      const { code } = request.params;
      return await guarded(request, async () => {
        const { caller } = request;
        if (caller?.sudoBy) {
          throw new AppError('forbidden', 'invitations cannot be accepted for another user', {
            reason: 'sudo_forbidden',
          });
        }
        const { other_address: knowsOtherAddress = false } = request.body;
        if (caller) {
          const joined = await acceptance.acceptAs(caller.person, code, knowsOtherAddress, actorOf(request));
          return reply.code(200).send(presentJoined(joined));
        }
        const account = readAccount(request.body);
        await acceptance.acceptNew(code, account, request.id);
        const { person } = await users.person(account?.username ?? '');
        return reply.code(201).send(presentSelf(person, baseUrl()));
      });
    },
  );

  /** No caller finds a code by trying, or keeps the database busy with it. */
  async function guarded<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    const [network, now] = [networkOf(request.ip), performance.now()];
    if (!guesses.take(network, now)) {
      const retryAfter = guesses.wait(network, now);
      throw new AppError('limited', 'too many wrong invitation codes, try again later', { retryAfter });
    }
    let isWrong = false;
    try {
      return await work();
    } catch (error) {
      isWrong = error instanceof AppError && error.detail.reason === 'invitation_not_found';
      throw error;
    } finally {
      if (!isWrong) guesses.give(network);
    }
  }
}

function readAccount({ username, password, full_name: fullName = '' }: Static<typeof Acceptance>) {
  return username === undefined || password === undefined ? undefined : { username, password, fullName };
}
