import Type from 'typebox';
import { writeJson } from '../base/json.ts';
import { callerOf, signedIn } from '../http/access.ts';
import { type Scope, sendText } from '../http/server.ts';
import type { Person } from '../identity/callers.ts';
import { presentSelf, User } from './user.view.ts';

export function accountRoutes(scope: Scope, baseUrl: () => string): void {
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
}
