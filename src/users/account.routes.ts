import Type from 'typebox';
import { writeJson } from '../base/json.ts';
import { dropAbsent } from '../http/absent-fields.ts';
import { actorOf, callerOf, signedIn } from '../http/access.ts';
import { showVersion, unchanged } from '../http/etag.ts';
import { type Scope, sendText } from '../http/server.ts';
import type { Person } from '../identity/callers.ts';
import { ProfileFields, presentSelf, readProfile, User } from './user.view.ts';
import type { Users } from './users.ts';

export function accountRoutes(scope: Scope, users: Pick<Users, 'person' | 'updateOwn'>, baseUrl: () => string): void {
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
      config: { access: signedIn('user') },
      schema: {
        summary: 'Get the signed-in user',
        tags: ['user'],
        querystring: Type.Object({
          check_client_org: Type.Optional(Type.String({ description: 'If "true", clientOrgUser is included.' })),
        }),
        response: { 200: User },
      },
    },
    (request, reply) => {
      const { person } = callerOf(request);
      if (request.query.check_client_org === 'true') reply.send(presentSelf(person, baseUrl(), true));
      else sendText(reply, texts.get(person) ?? remember(person));
    },
  );

  scope.patch(
    '/user',
    {
      preValidation: dropAbsent(),
      config: { access: signedIn('user') },
      schema: {
        summary: 'Update the profile of the caller; omitted fields stay unchanged',
        tags: ['user'],
        extension: true,
        optionalBody: true,
        body: Type.Object(ProfileFields),
        response: { 200: User },
      },
    },
    async (request, reply) => {
      const { login } = callerOf(request).person;
      await users.updateOwn(login, readProfile(request.body), unchanged(request), actorOf(request));
      const { person, version } = await users.person(login);
      showVersion(reply, { id: person.id, version });
      return presentSelf(person, baseUrl());
    },
  );
}
