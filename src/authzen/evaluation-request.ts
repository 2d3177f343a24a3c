import Type, { type Static } from 'typebox';
import { AppError } from '../base/errors.ts';
import type { AskedItem, Semantic } from './evaluation.ts';
import { SEMANTICS } from './evaluation.ts';

/** Bodies as AuthZEN has them. Members that it does not know are ignored, and so are all properties. */
const Properties = Type.Optional(Type.Object({}, { additionalProperties: true }));
const Entity = Type.Object({ type: Type.String(), id: Type.String(), properties: Properties });
const Wanted = Type.Object({ type: Type.String(), properties: Properties });
const Action = Type.Object({ name: Type.String(), properties: Properties });
const Context = Type.Optional(Type.Object({}, { additionalProperties: true }));
const Page = Type.Optional(
  Type.Object({ token: Type.Optional(Type.String()), limit: Type.Optional(Type.Integer()), properties: Properties }),
);
const MAX_ITEMS = 1000;

const Item = Type.Object({
  subject: Type.Optional(Entity),
  action: Type.Optional(Action),
  resource: Type.Optional(Entity),
  context: Context,
});
export const EvaluationBody = Type.Object({ subject: Entity, action: Action, resource: Entity, context: Context });
export const EvaluationsBody = Type.Object({
  ...Item.properties,
  evaluations: Type.Optional(Type.Array(Item, { maxItems: MAX_ITEMS })),
  options: Type.Optional(Type.Object({ evaluations_semantic: Type.Optional(Type.String({ enum: [...SEMANTICS] })) })),
});
export const SubjectSearchBody = Type.Object({
  ...{ subject: Wanted, action: Action, resource: Entity, context: Context, page: Page },
});
export const ResourceSearchBody = Type.Object({
  ...{ subject: Entity, action: Action, resource: Wanted, context: Context, page: Page },
});
export const ActionSearchBody = Type.Object({ subject: Entity, resource: Entity, context: Context, page: Page });

type ItemInput = Static<typeof Item>;

export function readItem({ subject, action, resource, context }: ItemInput): AskedItem {
  return {
    subject: subject ?? missing('subject'),
    action: (action ?? missing('action')).name,
    resource: resource ?? missing('resource'),
    namespace: namespaceIn(context),
  };
}

/** What an item leaves out is that of the whole request. Nothing is merged. */
export function readItems(body: Static<typeof EvaluationsBody>): {
  readonly items: readonly AskedItem[];
  readonly isSingle: boolean;
  readonly semantic: Semantic;
} {
  const { evaluations = [], options, ...defaults } = body;
  const semantic = SEMANTICS.find((one) => one === options?.evaluations_semantic) ?? 'execute_all';
  if (evaluations.length === 0) return { items: [readItem(defaults)], isSingle: true, semantic };
  return { items: evaluations.map((item) => readItem({ ...defaults, ...item })), isSingle: false, semantic };
}

/** The only part of a context that is read: it narrows the question. Clients fill the rest with what users send. */
export function namespaceIn(context: object | undefined): unknown {
  return (context as { readonly namespace?: unknown } | undefined)?.namespace;
}

function missing(member: string): never {
  throw new AppError('invalid', `${member} is required`);
}
