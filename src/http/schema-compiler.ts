import { hash } from 'node:crypto';
import { Ajv, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import fastJson from 'fast-json-stringify';

type Write = (value: unknown) => string;

// A schema is compiled by the first request or response that needs it: for all routes together, that would be a fifth
// of the start-up time. Routes with equal schemas share the result, and so do several servers in one process.
const strict = createAjv({ coerceTypes: false });
const lenient = createAjv({ coerceTypes: true });
const validateStrictly = onceFor<ValidateFunction>((schema) => strict.compile(schema));
const validateLeniently = onceFor<ValidateFunction>((schema) => lenient.compile(schema));
const write = onceFor<Write>((schema) => fastJson(schema));

/** The first schema takes as long as ten later ones, because the compiler itself is not compiled yet. */
export function warmUpCompilers(): void {
  const schema = { type: 'object', required: ['id'], properties: { id: { type: 'string', pattern: '^[0-9]+$' } } };
  for (const httpPart of ['params', 'body']) validatorOf(schema, httpPart)({ id: '1' });
}

/** A body must have the right types as it is. A path or query is all text, so numbers and flags are converted. */
export function validatorOf(schema: object, httpPart: string | undefined): ValidateFunction {
  const compile = httpPart === 'body' ? validateStrictly : validateLeniently;
  let compiled: ValidateFunction | undefined;
  const validate = (data: unknown) => {
    compiled ??= compile(schema);
    const isValid = compiled(data);
    validate.errors = compiled.errors;
    return isValid;
  };
  validate.errors = undefined as ValidateFunction['errors'];
  return validate as ValidateFunction;
}

/** Serializes as Fastify would. */
export function writerOf(schema: object): Write {
  let compiled: Write | undefined;
  return (value) => {
    compiled ??= write(schema);
    return compiled(value);
  };
}

function createAjv(options: { readonly coerceTypes: boolean }): Ajv {
  const ajv = new Ajv({
    ...{ ...options, removeAdditional: false, useDefaults: true, strictTypes: false },
    // Compiling the schema of schemas takes 30 ms, which the first request would wait for. A test checks ours.
    ...{ meta: false, validateSchema: false },
  });
  addFormats.default(ajv);
  ajv.addKeyword({
    keyword: 'int64',
    validate: (_schema: true, data: unknown) => typeof data === 'number' || typeof data === 'bigint',
    errors: false,
    error: { message: 'must be number' },
  });
  return ajv;
}

/** Compiles each schema once. Schemas are equal if their JSON is, and the JSON of a schema is all there is to it. */
function onceFor<Compiled>(compile: (schema: object) => Compiled): (schema: object) => Compiled {
  const known = new Map<string, Compiled>();
  return (schema) => {
    const key = hash('sha256', JSON.stringify(schema));
    const compiled = known.get(key) ?? compile(schema);
    known.set(key, compiled);
    return compiled;
  };
}
