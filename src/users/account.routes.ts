import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import { writeJson } from '../base/json.ts';
import { actorOf, callerOf, signedIn } from '../http/admission/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { flag } from '../http/wire/paging.ts';
import { NoBody, named } from '../http/wire/schemas.ts';
import type { Person } from '../identity/callers.ts';
import type { PasswordChange } from '../identity/passwords/password-change.ts';
import { ProfileFields, presentRobotSelf, presentSelf, readProfile, User } from './user.view.ts';
import type { Users } from './users.ts';

const NewPassword = named(
  'NewPassword',
  Type.Object({
    current: Type.Optional(
      Type.String({
        maxLength: 1024,
        description:
          'The present password. Not needed with Basic authentication, in a session whose user has proven less than 10 minutes ago who they are, or if there is no password and no linked account.',
      }),
    ),
    new: Type.String({
      maxLength: 1024,
      description: '8 to 255 characters. Ends all other sessions; tokens stay valid.',
    }),
  }),
);

interface AccountRoutesOptions {
  readonly users: Pick<Users, 'person' | 'updateOwn'>;
  readonly changePassword: PasswordChange;
  readonly baseUrl: () => string;
}

export function accountRoutes(scope: Scope, { users, changePassword, baseUrl }: AccountRoutesOptions): void {
  // The most frequent of all calls. A Person is never changed, only replaced, so the response is valid as long as the
  // Person.
  const texts = new WeakMap<Person, string>();
  const remember = (person: Person) => {
    const text = writeJson(presentSelf(person, baseUrl()));
    texts.set(person, text);
    return text;
  };

  scope.get(
    '/user',
    {
      config: {
        access: signedIn('user', 'as users', { limited: 'filtered', enrolling: true }),
        atHand(request, reply) {
          const { person, robot } = callerOf(request);
          const { check_client_org } = request.query as { readonly check_client_org?: unknown };
          if (robot !== undefined || check_client_org !== undefined) return undefined;
          return sendText(reply, texts.get(person) ?? remember(person));
        },
      },
      schema: {
        summary: 'Get the signed-in user, or the robot',
        tags: ['user'],
        querystring: Type.Object({
          check_client_org: Type.Optional(flag('If true, clientOrgUser is included.')),
        }),
        response: { 200: User },
      },
    },
    (request, reply) => {
      const { person, robot } = callerOf(request);
      const isChecked = request.query.check_client_org === 'true';
      if (robot) reply.send(presentRobotSelf(person, robot, baseUrl()));
      else reply.send(presentSelf(person, baseUrl(), isChecked));
    },
  );

  scope.patch(
    '/user',
    {
      preValidation: dropAbsent(),
      config: { access: signedIn('user', 'never') },
      schema: {
        summary: 'Update the profile of the caller; omitted fields stay unchanged',
        tags: ['user'],
        extension: true,
        optionalBody: true,
        body: named('EditProfile', Type.Object(ProfileFields)),
        etag: true,
        ifMatch: true,
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { login } = callerOf(request).person;
      await users.updateOwn(login, readProfile(request.body), unchanged(request), actorOf(request));
      const { person, version } = await users.person(login);
      showEtag(reply, { id: person.id, version });
      return presentSelf(person, baseUrl());
    },
  );

  scope.put(
    '/user/password',
    {
      preValidation: dropAbsent('current'),
      config: { access: signedIn('user', 'never', { scope: 'all', enrolling: true }) },
      schema: {
        summary: 'Set the password of the caller',
        tags: ['user'],
        extension: true,
        body: NewPassword,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      const { person, via, session, sudoBy } = callerOf(request);
      // An administrator sets the password of another user under /admin/users, where the audit log says so.
      if (sudoBy !== undefined) {
        const message = 'a password cannot be set on behalf of another user';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      const { current, new: wanted } = request.body;
      const proof = { via, session };
      await changePassword(
        { person, proof, current, wanted, address: request.ip, actor: actorOf(request) },
        new Date(),
      );
      return reply.code(204).send();
    },
  );
}
