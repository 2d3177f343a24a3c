import Type from 'typebox';
import { signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named } from '../http/wire/schemas.ts';
import type { DescribedType } from './model-words.ts';

const Relation = named(
  'ModelRelation',
  Type.Object({
    relation: Type.String(),
    title: Type.String({ description: 'The relation in a few words, such as "connect to the cluster".' }),
    description: Type.String({ description: 'What the relation is for, and who holds it.' }),
    catalog: Type.Optional(
      Type.Object(
        { namespace: Type.String(), action: Type.String() },
        { description: 'The permission of a custom role that grants the relation, if there is one.' },
      ),
    ),
  }),
);
const DescribedModel = named(
  'AuthorizationModel',
  Type.Object({
    text: Type.String({ description: 'The model in the OpenFGA language.' }),
    types: Type.Array(Type.Object({ type: Type.String(), relations: Type.Array(Relation) })),
  }),
);

/** The model is the same for every caller and contains no data. */
export function modelWordsRoutes(scope: Scope, text: string, types: readonly DescribedType[]): void {
  scope.get(
    '/authz/model',
    {
      config: { access: signedIn('authz', 'as users', { limited: 'filtered' }) },
      schema: {
        summary: 'Get the authorization model, as text and with every relation in words',
        tags: ['authorization'],
        extension: true,
        response: { 200: DescribedModel },
      },
    },
    async () => ({ text, types: [...types] }) as never,
  );
}
