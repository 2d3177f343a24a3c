import Type, { type Static, type TSchema } from 'typebox';
import { AppError } from '../../base/errors.ts';
import { REASONS, type Reason } from '../../base/reasons.ts';

const MAX_INT64 = 2n ** 63n - 1n;
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59Z');
const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** An ID in a response: a JSON number, exact over the whole range of int64. */
export const Int64 = Type.Unsafe<number | bigint>({ type: 'integer', format: 'int64' });
/**
 * An ID in a body: any JSON number passes here, so that a number that is not an ID is distinguished from a value that
 * is not a number.
 */
export const Int64Input = Type.Unsafe<number | bigint>({ int64: true });
export const Timestamp = Type.Unsafe<string>({ type: 'string', format: 'date-time' });

/**
 * Names a schema in the documentation, where it is then described once. Validation and serialization use the whole
 * schema wherever it occurs: to them, a title means nothing.
 */
export function named<Schema extends TSchema>(name: string, schema: Schema): Schema {
  return Object.assign(schema, { title: name });
}

/** What the documentation shows in place of a schema that accepts more than clients should send. */
export const SHOWN = Symbol('shown');

/** Changes the documentation only: validation does not see a symbol. */
export function shownAs<Schema extends TSchema>(schema: Schema, shape: object): Schema {
  return Object.assign(schema, { [SHOWN]: shape });
}

/** An ID, or null. Written exactly over the whole range, which a list of types would not be. */
export const MaybeInt64 = shownAs(Type.Unsafe<number | bigint | null>({ type: 'integer', nullable: true }), {
  type: ['integer', 'null'],
  format: 'int64',
});

/** Says more to readers than validation checks, because the rules check it, in their own words. */
export function documentedSchema<Schema extends TSchema>(schema: Schema, further: object): Schema {
  const { [SHOWN]: shape = schema } = schema as { readonly [SHOWN]?: object };
  return shownAs({ ...schema }, { ...shape, ...further });
}

export const OrgQuery = Type.Object({
  org: documentedSchema(Type.String({ description: 'Name of the organization.' }), { minLength: 1 }),
});

/** An ID in a path, to be read with `readId`, which rejects what is no ID in its own words. */
export const PathId = shownAs(Type.String(), { type: 'integer', format: 'int64', minimum: 1 });

/** Also accepts null, which Go clients send for a list, object or pointer that was not given. */
export function orNull<Schema extends TSchema & { type: string }>(schema: Schema) {
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [schema.type, 'null'] });
}

/** A field that may be left out; null counts as left out. */
export function maybe<Schema extends TSchema & { type: string }>(schema: Schema) {
  return Type.Optional(orNull(schema));
}

/** A response without a body: sent as `reply.send()`, because `null` would be written out. */
export const NoBody = Type.Unsafe<void>({ type: 'null' });

/**
 * A response that is sent as it is, not as a value of a schema. The framework must not look for a body to serialize, so
 * for it this is the same as `NoBody`; the documentation shows the media types.
 */
export function media(...types: readonly [string, ...string[]]) {
  return Type.Unsafe<void>({ type: 'null', media: types });
}

/** Further media types of a response. */
export const ALSO = Symbol('also');

/** The caller can have the response in these media types too. For the documentation only, like `shownAs`. */
export function alsoAs<Schema extends TSchema>(schema: Schema, ...types: readonly string[]): Schema {
  return Object.assign(schema, { [ALSO]: types });
}

export const UserReference = named('UserReference', Type.Object({ id: Int64, name: Type.String() }));
/** A permission of the catalog. */
export const PermissionPair = named('Permission', Type.Object({ namespace: Type.String(), action: Type.String() }));

/** In errors with the reason guardrail_violated, and in previews of such errors. */
export const ViolatedGuardrail = named(
  'ViolatedGuardrail',
  Type.Object(
    {
      id: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of the guardrail.' }),
      name: Type.String({ description: 'Name of the guardrail.' }),
      sentence: Type.String({ description: 'What it states.' }),
      violated_by: Type.Array(
        named(
          'Violator',
          Type.Object(
            {
              user: Type.Object(
                {
                  id: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID of the user.' }),
                  name: Type.String({ description: 'Login name.' }),
                  type: Type.Optional(
                    Type.String({
                      enum: ['robot_ac'],
                      description: 'Only of a robot: then the ID is that of the robot.',
                    }),
                  ),
                },
                { description: 'The user, or the robot.' },
              ),
            },
            { description: 'A user or robot that would violate a guardrail.' },
          ),
        ),
        { description: 'Who would violate it, as far as the caller may see them; at most 20.' },
      ),
      total: Type.Integer({ description: 'How many would, also those who are not listed.' }),
    },
    { description: 'The guardrail that the change would violate, if reason is guardrail_violated.' },
  ),
);
export const ErrorBody = named(
  'Error',
  Type.Object({
    message: Type.String({ description: 'Human-readable description of the error.' }),
    url: Type.String({ description: 'URL of the API documentation.' }),
    reason: Type.Unsafe<Reason>({
      type: 'string',
      enum: Object.keys(REASONS),
      description: 'Machine-readable reason. A new version may add reasons, but does not rename any.',
    }),
    relation: Type.Optional(Type.String({ description: 'The missing relation, if reason is missing_relation.' })),
    requestable: Type.Optional(
      Type.Boolean({
        description: 'With missing_relation: true if the caller could ask for it (POST /authz/requests).',
      }),
    ),
    longest: Type.Optional(
      Type.String({ description: 'With not_requestable, if only the time is too long: the longest, as in PT8H.' }),
    ),
    until: Type.Optional(
      Type.Union([Timestamp, Type.Null()], {
        description: 'With already_allowed: when what the caller holds ends. Null if it does not.',
      }),
    ),
    request: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The access request as it is now, if an approval was rejected.' },
      ),
    ),
    second_factor: Type.Optional(
      named(
        'SecondFactorNeeded',
        Type.Object(
          {
            methods: Type.Array(Type.String({ enum: ['passkey', 'totp', 'recovery_code'] }), {
              description: 'What the user can finish signing in with.',
            }),
          },
          { description: 'How to go on, if reason is second_factor_required.' },
        ),
      ),
    ),
    guardrail: Type.Optional(ViolatedGuardrail),
    errors: Type.Optional(
      Type.Array(named('FieldError', Type.Object({ field: Type.String(), message: Type.String() }))),
    ),
    request_id: Type.Optional(Type.String()),
  }),
);
export const ListenerErrorBody = named('ListenerError', Type.Object({ message: Type.String() }));
export const ServerVersion = named('ServerVersion', Type.Object({ version: Type.String() }));

/** An ID in a path: a positive int64, otherwise the request names something that cannot exist. */
export function readId(text: string, what: string): bigint {
  const id = /^[0-9]{1,19}$/.test(text) ? BigInt(text) : 0n;
  if (id < 1n || id > MAX_INT64) throw new AppError('invalid', `invalid ${what}: ${JSON.stringify(text.slice(0, 40))}`);
  return id;
}

export function readIdNumber(value: number | bigint, what: string): bigint {
  if (!(typeof value === 'bigint' || Number.isSafeInteger(value)) || value < 1 || BigInt(value) > MAX_INT64) {
    throw new AppError('invalid', `invalid ${what}: ${value}`);
  }
  return BigInt(value);
}

/** An ID for the plain JSON writer: a number if that is exact. Every other writer accepts both. */
export function plainId(id: bigint): number | bigint {
  const number = Number(id);
  return Number.isSafeInteger(number) ? number : id;
}

/** A moment from a body whose text has the right form: neither PostgreSQL nor RFC 3339 has a year 0 or 10000. */
export function readMoment(text: string, field: string): Date {
  const moment = new Date(text);
  // Written so that an invalid date, such as a leap second, does not pass either.
  if (moment.getTime() >= 0 && moment.getTime() <= LAST_MOMENT) return moment;
  const message = `${field} must be a date-time between the years 1970 and 9999`;
  throw new AppError('malformed', message, { errors: [{ field, message }] });
}

/** A moment in a query. A plus sign that was not escaped arrives as a space. */
export function readDateTime(parameter: string, given: string): Date {
  const text = given.replace(/ (\d\d:\d\d)$/, '+$1');
  const [, year = 0, month = 0, day = 0] = (RFC3339.exec(text) ?? []).map(Number);
  const isDay = day >= 1 && day <= new Date(Date.UTC(year, month, 0)).getUTCDate();
  const moment = new Date(isDay ? text : Number.NaN);
  if (!Number.isNaN(moment.getTime())) return moment;
  throw new AppError('invalid', `${parameter} must be an RFC 3339 time, such as 2026-11-03T10:00:00Z`);
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 5000;
const PAIRS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'));
const days = new Map<number, string>();

/**
 * RFC 3339 in whole seconds of UTC. Null becomes the start of Unix time. Long lists contain thousands of moments, and
 * `toISOString` takes longer than everything else about an entry, so it is called once for each day.
 */
export function timestamp(moment: Date | null): string {
  const ms = moment?.getTime() ?? 0;
  const day = Math.floor(ms / DAY_MS);
  const second = Math.floor((ms - day * DAY_MS) / 1000);
  return `${dayText(day)}T${PAIRS[Math.floor(second / 3600)]}:${PAIRS[Math.floor(second / 60) % 60]}:${PAIRS[second % 60]}Z`;
}

function dayText(day: number): string {
  let text = days.get(day);
  if (text === undefined) {
    text = new Date(day * DAY_MS).toISOString().slice(0, 10);
    if (days.size >= MAX_DAYS) days.clear();
    days.set(day, text);
  }
  return text;
}

export const Text = (maxLength: number) => Type.String({ maxLength });
/** Text without control characters and line breaks. */
export const Line = (maxLength: number) =>
  Type.String({ maxLength, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$' });
export const Website = Type.String({
  maxLength: 255,
  pattern: '^(https?://[^\\s]+)?$',
  description: 'An http or https URL, or empty.',
});
