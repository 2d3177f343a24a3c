/** An example as test/contract/examples.test.ts records it from the demo world. */
interface Example {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly status: number;
  readonly type?: string;
  readonly response?: unknown;
}
export type Examples = Readonly<Record<string, Example>>;

type Content = Readonly<Record<string, object>>;
interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** Adds the example of each operation to the document. An operation without one stays as it is: a test names it. */
export function withExamples<
  Document extends { readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>> },
>(document: Document, examples: Examples): Document {
  const paths = mapValues(document.paths, (methods) =>
    mapValues(methods, (operation) => withExample(operation as Operation, examples)),
  );
  return { ...document, paths };
}

function withExample(operation: Operation, examples: Examples): object {
  const example = examples[operation.operationId];
  if (example === undefined) return operation;
  const { parameters: values = {}, body, status, type, response } = example;
  const { parameters, requestBody, responses } = operation;
  const answer = responses[status];
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((one) =>
        one.in !== 'header' && one.name in values ? { ...one, example: values[one.name] } : one,
      ),
    }),
    ...(requestBody && {
      requestBody: { ...requestBody, content: withValue(requestBody.content, 'application/json', body) },
    }),
    responses: {
      ...responses,
      ...(answer?.content && type && { [status]: { ...answer, content: withValue(answer.content, type, response) } }),
    },
  };
}

function withValue(content: Content, type: string, example: unknown): Content {
  const media = content[type];
  return media === undefined || example === undefined ? content : { ...content, [type]: { ...media, example } };
}

function mapValues<Value, Result>(
  values: Readonly<Record<string, Value>>,
  change: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
