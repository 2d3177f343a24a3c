import Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { SERVER } from '../../changes/audit-entry.ts';
import { actorOf, anyone, callerOf, siteAdmin } from '../../http/admission/access.ts';
import type { PublicCalls } from '../../http/limits/public-calls.ts';
import type { Scope } from '../../http/server.ts';
import { createOnce } from '../../http/wire/create-once.ts';
import { NoBody, named, Timestamp, timestamp } from '../../http/wire/schemas.ts';
import type { PasswordLink, PasswordResets } from './password-resets.ts';

const LinkShown = named(
  'PasswordLink',
  Type.Object({
    link: Type.String({ description: 'Where the user sets a new password. It works once, and is not shown again.' }),
    expires_at: Type.Unsafe<string>({ ...Timestamp, description: 'When the link expires.' }),
  }),
);

/** How users who cannot sign in get a new password. */
export function passwordResetRoutes(scope: Scope, resets: PasswordResets, calls: PublicCalls): void {
  scope.post(
    '/user/password/forgot',
    {
      config: { access: anyone },
      schema: {
        summary: 'Ask for an email with a link that sets a new password; the answer is always the same',
        tags: ['sign-in'],
        extension: true,
        body: named(
          'ForgottenPassword',
          Type.Object({ email: Type.String({ description: 'An address of the account.' }) }),
        ),
        errors: [403],
        response: { 202: NoBody },
      },
    },
    async (request, reply) => {
      resets.requireOn();
      calls.takeEmail(request.ip);
      const { email } = request.body;
      calls.afterAnswer(reply, () => resets.forgot(email.trim(), { ...SERVER, requestId: request.id }));
      return reply.code(202).send();
    },
  );

  scope.post(
    '/user/password/reset',
    {
      config: { access: anyone },
      schema: {
        summary: 'Set a new password with the code of a link; ends all sessions, and opens none',
        tags: ['sign-in'],
        extension: true,
        body: named(
          'PasswordReset',
          Type.Object({
            code: Type.String({ maxLength: 200, description: 'What the link has after `code=`.' }),
            password: Type.String({ maxLength: 1024, description: 'The new password: 8 to 255 characters.' }),
          }),
        ),
        errors: [403, 404, 410],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { code, password } = request.body;
      const account = await calls.guarded(request.ip, () => resets.reset(code, password, request.id));
      calls.afterAnswer(reply, () => resets.changed(account));
      return reply.code(204).send();
    },
  );

  scope.post(
    '/admin/users/:username/password_link',
    {
      config: { access: siteAdmin('admin'), creates: true },
      schema: {
        summary: 'Create a link with which a user sets a new password; it works once, within 30 minutes',
        tags: ['users'],
        extension: true,
        grows: true,
        params: Type.Object({ username: Type.String() }),
        errors: [403, 404, 409],
        response: { 201: LinkShown },
      },
    },
    async (request, reply) => {
      if (callerOf(request).sudoBy) {
        const message = 'a link for a new password cannot be created on behalf of another user';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      return await createOnce(
        request,
        reply.header('Cache-Control', 'no-store').code(201),
        (once) => resets.link(request.params.username, actorOf(request), once),
        ({ link, expiresAt }: PasswordLink) => ({ link, expires_at: timestamp(expiresAt) }),
      );
    },
  );
}
