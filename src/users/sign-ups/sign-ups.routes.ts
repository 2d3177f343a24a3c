import Type from 'typebox';
import { anyone } from '../../http/admission/access.ts';
import type { PublicCalls } from '../../http/limits/public-calls.ts';
import type { Scope } from '../../http/server.ts';
import { dropAbsent } from '../../http/wire/absent-fields.ts';
import { Line, NoBody, named } from '../../http/wire/schemas.ts';
import { presentSelf, User } from '../user.view.ts';
import type { SignUps } from './sign-ups.ts';

/** How people create their own accounts, if REGISTRATION allows it. */
export function signUpRoutes(scope: Scope, signUps: SignUps, calls: PublicCalls, baseUrl: () => string): void {
  scope.post(
    '/user/signup',
    {
      config: { access: anyone },
      schema: {
        summary: 'Ask for an email with a link that creates an account',
        tags: ['sign-in'],
        extension: true,
        body: named(
          'SignUp',
          Type.Object({ email: Type.String({ description: 'An address of one of the allowed domains.' }) }),
        ),
        errors: [403],
        response: { 202: NoBody },
      },
    },
    async (request, reply) => {
      signUps.requireOpen();
      calls.takeEmail(request.ip);
      const address = request.body.email.trim();
      signUps.requireAddress(address);
      calls.afterAnswer(reply, () => signUps.begin(address));
      return reply.code(202).send();
    },
  );

  scope.post(
    '/user/signup/confirm',
    {
      preValidation: dropAbsent('full_name'),
      config: { access: anyone },
      schema: {
        summary: 'Create an account with the code of a link; its address is confirmed then',
        tags: ['sign-in'],
        extension: true,
        body: named(
          'ConfirmedSignUp',
          Type.Object({
            code: Type.String({ maxLength: 200, description: 'What the link has after `code=`.' }),
            username: Type.String({ description: 'A name that no user and no organization has.' }),
            password: Type.String({ maxLength: 1024, description: '8 to 255 characters.' }),
            full_name: Type.Optional(Type.Unsafe<string>({ ...Line(100), description: 'Name for people.' })),
          }),
        ),
        errors: [403, 404, 409, 410],
        response: { 201: User },
      },
    },
    async (request, reply) => {
      const { code, username, password, full_name: fullName = '' } = request.body;
      const created = await calls.guarded(request.ip, () =>
        signUps.confirm(code, { username, password, fullName }, request.id),
      );
      return reply.code(201).send(presentSelf(created.person, baseUrl()));
    },
  );
}
