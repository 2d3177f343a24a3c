import type { FieldReader } from './field-reader.ts';

/** An object of limits, by name in the file. */
export interface LimitEntry {
  readonly type: string;
  readonly id: bigint | undefined;
  readonly name: string | undefined;
}

/** What a token of a rule is limited to, as a file says it. */
export interface LimitsEntry {
  readonly organizations: readonly string[];
  readonly objects: readonly LimitEntry[];
}

/** A trust rule of a robot in the file. Undefined fields stay as they are. */
export interface TrustRuleEntry {
  readonly name: string;
  readonly was: string | undefined;
  readonly issuer: string | undefined;
  readonly audience: string | undefined;
  readonly jwks: unknown;
  readonly claims: Readonly<Record<string, unknown>> | undefined;
  readonly scopes: readonly string[] | undefined;
  readonly limits: LimitsEntry | undefined;
  readonly lifetime: string | undefined;
  readonly singleUse: boolean | undefined;
}

const TEXTS = ['name', 'was', 'issuer', 'audience', 'lifetime'] as const;
const KEYS = [...TEXTS, 'jwks', 'claims', 'scopes', 'limits', 'single_use'];

/** Its form. What is wrong with its values is told by the rules for trust rules. */
export function readTrustRuleEntry(reader: FieldReader, item: unknown, path: string): TrustRuleEntry {
  const rule = reader.entry(item, path, KEYS);
  const text = (key: (typeof TEXTS)[number]) => reader.text(rule, `${path}.`, key);
  const name = text('name');
  if (name === undefined) reader.fault(`${path}.name`, 'is required');
  const claims = rule.claims ?? undefined;
  if (claims !== undefined && !reader.fields(claims)) reader.fault(`${path}.claims`, 'must be a mapping');
  return {
    ...{ name: name ?? '', was: text('was'), issuer: text('issuer'), audience: text('audience') },
    ...{ jwks: rule.jwks ?? undefined, claims: reader.fields(claims), scopes: reader.texts(rule, path, 'scopes') },
    limits: rule.limits === undefined ? undefined : readLimits(reader, rule.limits, `${path}.limits`),
    ...{ lifetime: text('lifetime'), singleUse: reader.flag(rule, path, 'single_use') },
  };
}

/** A null is an error: nothing must become everything by accident. */
function readLimits(reader: FieldReader, given: unknown, path: string): LimitsEntry {
  const limits = reader.entry(given, path, ['organizations', 'objects']);
  const objects = limits.objects ?? [];
  if (!Array.isArray(objects)) reader.fault(`${path}.objects`, 'must be a list');
  return {
    organizations: reader.texts(limits, path, 'organizations') ?? [],
    objects: Array.isArray(objects)
      ? objects.map((one, place) => readObject(reader, one, `${path}.objects[${place}]`))
      : [],
  };
}

/** What files call a robot is `robot`. */
export function readObject(reader: FieldReader, given: unknown, path: string): LimitEntry {
  const object = reader.entry(given, path, ['type', 'id', 'name']);
  const type = reader.text(object, `${path}.`, 'type') ?? '';
  const [id, name] = [reader.id(object, path), reader.text(object, `${path}.`, 'name')];
  return { type: type === 'robot' ? 'robot_ac' : type, id, name };
}
