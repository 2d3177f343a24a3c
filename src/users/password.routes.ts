import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { dropAbsent } from '../http/absent-fields.ts';
import { actorOf, callerOf, signedIn } from '../http/access.ts';
import { NoBody } from '../http/schemas.ts';
import type { Scope } from '../http/server.ts';
import type { PasswordChange } from '../identity/password-change.ts';

const NewPassword = Type.Object({
  current: Type.Optional(
    Type.String({
      maxLength: 1024,
      description:
        'The present password. Not needed if there is none, with Basic authentication, or in a session that was opened with the password less than 10 minutes ago.',
    }),
  ),
  new: Type.String({
    maxLength: 1024,
    description: '8 to 255 characters. Ends all other sessions; tokens stay valid.',
  }),
});

export function passwordRoutes(scope: Scope, change: PasswordChange): void {
  scope.put(
    '/user/password',
    {
      preValidation: dropAbsent('current'),
      config: { access: signedIn('user', { scope: 'all' }) },
      schema: {
        summary: 'Set the password of the caller',
        tags: ['user'],
        extension: true,
        body: NewPassword,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person, via, session, tokenId, sudoBy } = callerOf(request);
      // An administrator sets the password of another user under /admin/users, where the audit log says so.
      if (sudoBy !== undefined) {
        const message = 'a password cannot be set on behalf of another user';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      const { current, new: wanted } = request.body;
      const proof = { via, session, tokenId };
      await change({ person, proof, current, wanted, address: request.ip, actor: actorOf(request) }, new Date());
      return reply.code(204).send();
    },
  );
}
