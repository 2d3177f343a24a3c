import type { Context, OpenFga, World } from '../../../test/support/services/openfga.ts';
import { check } from '../src/engine.ts';
import { createGraph } from '../src/graph.ts';
import type { Model } from '../src/model.ts';
import { RebacError } from '../src/rebac-error.ts';
import type { ModelJson } from '../src/syntax.ts';
import { readParameters } from './expressions.ts';
import { loadModel } from './load-model.ts';

const QUESTION = { user: 'user:ann', relation: 'viewer', object: 'doc:1' } as const;

/** A model whose only relation has a condition of these parameters. */
export function conditionalModel(parameters: string, expression: string): ModelJson {
  const restriction = { type: 'user', condition: 'cond' };
  return {
    schema_version: '1.1',
    type_definitions: [
      { type: 'user' },
      {
        type: 'doc',
        relations: { viewer: { this: {} } },
        metadata: { relations: { viewer: { directly_related_user_types: [restriction] } } },
      },
    ],
    conditions: { cond: { name: 'cond', expression, parameters: readParameters(parameters) } },
  };
}

export async function tryModel(json: ModelJson): Promise<Model | { readonly refused: string }> {
  try {
    return await loadModel(json);
  } catch (error) {
    if (error instanceof RebacError && error.fault === 'invalidModel') return { refused: error.message };
    throw error;
  }
}

/** What the condition of the model says to a context of the request and of the tuple. */
export function evaluate(model: Model, request: Context, tuple?: Context): boolean | 'error' {
  const condition = { name: 'cond', ...(tuple && { context: tuple }) };
  const contextualTuples = [{ ...QUESTION, condition }];
  try {
    return check(createGraph(model), { ...QUESTION, context: request, contextualTuples });
  } catch (error) {
    if (error instanceof RebacError) return 'error';
    throw error;
  }
}

/** What the server says to contexts of the request. */
export async function askCondition(server: World, contexts: readonly Context[]): Promise<(boolean | 'error')[]> {
  const contextualTuples = [{ ...QUESTION, condition: { name: 'cond' } }];
  const answers = await server.checks(contexts.map((context) => ({ ...QUESTION, context, contextualTuples })));
  return answers.map((answer) => (typeof answer === 'boolean' ? answer : 'error'));
}

/** Every difference between the engine and the server, in words. */
export async function compareExpression(
  server: OpenFga,
  parameters: string,
  expression: string,
  contexts: readonly Context[],
): Promise<string[]> {
  const json = conditionalModel(parameters, expression);
  const told = `(${parameters}) { ${expression} }`;
  const [ours, theirs] = await Promise.all([tryModel(json), server.write(json)]);
  if ('refused' in theirs) return 'refused' in ours ? [] : [`${told}: only OpenFGA refuses it: ${theirs.refused}`];
  if ('refused' in ours) return [`${told}: only the engine refuses it: ${ours.refused}`];
  // The same values in the request and on the tuple, where the server checks them when the tuple is stored.
  const places = contexts.flatMap((context) => [
    { request: context, tuple: undefined },
    { request: {}, tuple: context },
  ]);
  const answers = await theirs.checks(
    places.map(({ request, tuple }) => {
      const condition = { name: 'cond', ...(tuple && { context: tuple }) };
      return { ...QUESTION, context: request, contextualTuples: [{ ...QUESTION, condition }] };
    }),
  );
  return places.flatMap(({ request, tuple }, index) => {
    const answer = answers[index];
    const due = typeof answer === 'object' ? 'error' : answer;
    const came = evaluate(ours, request, tuple);
    if (came === due) return [];
    const reason = typeof answer === 'object' ? ` (${answer.message.slice(-120)})` : '';
    const where = `${tuple ? 'a tuple' : 'a request'} with ${JSON.stringify(tuple ?? request).slice(0, 300)}`;
    return [`${told} and ${where}: OpenFGA ${due}${reason}, the engine ${came}`];
  });
}
