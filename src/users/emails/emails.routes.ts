import Type from 'typebox';
import { anyone, callerOf, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { createOnce } from '../../http/wire/create-once.ts';
import { NoBody, named, orNull } from '../../http/wire/schemas.ts';
import type { Email, Emails } from './emails.ts';

const EmailEntry = named(
  'Email',
  Type.Object({ email: Type.String(), verified: Type.Boolean(), primary: Type.Boolean() }),
);
const Addresses = Type.Array(Type.String());
const NewEmails = named('NewEmails', Type.Object({ emails: Addresses }));
/** Removing nothing is not an error, and some clients send null for nothing. */
const OldEmails = named('RemovedEmails', Type.Object({ emails: orNull(Addresses) }));

export function emailRoutes(scope: Scope, emails: Emails): void {
  const tags = ['user'];
  const config = { access: signedIn('user', 'never') };

  scope.get(
    '/user/emails',
    {
      config,
      schema: { summary: 'List the email addresses of the caller', tags, response: { 200: Type.Array(EmailEntry) } },
    },
    async (request) => (await emails.list(callerOf(request).person.id)).map(present),
  );

  scope.post(
    '/user/emails',
    {
      config: { ...config, creates: true },
      schema: {
        summary: 'Add email addresses, all or none',
        tags,
        body: NewEmails,
        response: { 201: Type.Array(EmailEntry) },
      },
    },
    async (request, reply) => {
      const { person } = callerOf(request);
      return await createOnce(
        request,
        reply.code(201),
        (once) => emails.add(person, request.body.emails, new Date(), once),
        (list: readonly Email[]) => list.map(present),
      );
    },
  );

  scope.delete(
    '/user/emails',
    {
      config,
      schema: { summary: 'Remove email addresses, all or none', tags, body: OldEmails, response: { 204: NoBody } },
    },
    async (request, reply) => {
      await emails.remove(callerOf(request).person.id, request.body.emails ?? []);
      return reply.code(204).send();
    },
  );

  scope.get(
    '/user/emails/confirm',
    {
      config: { access: anyone },
      schema: {
        summary: 'Confirm an email address with the key from the confirmation email',
        tags,
        extension: true,
        querystring: Type.Object({ key: Type.String() }),
        errors: [404],
        response: { 200: named('Confirmation', Type.Object({ message: Type.String() })) },
      },
    },
    async (request) => {
      await emails.confirm(request.query.key, new Date());
      return { message: 'the address is confirmed' };
    },
  );
}

function present({ address, verified, primary }: Email) {
  return { email: address, verified, primary };
}
