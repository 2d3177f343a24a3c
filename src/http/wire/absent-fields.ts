import type { FastifyRequest } from 'fastify';

/**
 * Go clients send every field that they know: null, or an empty text, for what was not given. A null is removed before
 * the body is validated, and so is an empty text in the fields named here, where it can mean nothing else. A missing
 * body counts as an empty one.
 */
export function dropAbsent(...emptyTexts: readonly string[]) {
  return dropAbsentExcept([], ...emptyTexts);
}

/** The same, but a null says something in the fields that are named first. */
export function dropAbsentExcept(nullable: readonly string[], ...emptyTexts: readonly string[]) {
  return async (request: FastifyRequest): Promise<void> => {
    const { body = {} } = request;
    if (!isObject(body)) return;
    const said = Object.entries(body).filter(
      ([key, value]) => (value !== null || nullable.includes(key)) && !(value === '' && emptyTexts.includes(key)),
    );
    request.body = Object.fromEntries(said);
  };
}

/** Removes nulls from the objects in these fields, such as the ID of what is named by its name. */
export function dropAbsentWithin(...fields: readonly string[]) {
  return async (request: FastifyRequest): Promise<void> => {
    const { body } = request;
    if (!isObject(body)) return;
    const within = fields.flatMap((field) => {
      const value = body[field];
      return isObject(value)
        ? [[field, Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null))]]
        : [];
    });
    request.body = { ...body, ...Object.fromEntries(within) };
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
