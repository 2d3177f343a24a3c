/**
 * Generates the typed client from the OpenAPI document: the types of every call, and where its answers contain int64.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}
interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}
type Content = Readonly<Record<string, { readonly schema?: Schema }>>;
interface Operation {
  readonly summary?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** In a request, an int64 may also be a number; in an answer it is always a bigint. */
type Direction = 'in' | 'out';

const MADE = '// Made by `npm run generate` from openapi/atrium.json.';
const PREFIX = '/api/v1';
const JSON_TYPE = 'application/json';

export function clientFiles(document: object): Record<string, string> {
  const { paths, components } = document as Document;
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ name: nameOf(method, path), operation })),
  );
  return {
    'client/api.gen.ts': types(calls, components.schemas),
    'client/exact.gen.ts': exactness(calls, components.schemas),
  };
}

interface Call {
  readonly name: string;
  readonly operation: Operation;
}

/** `GET /user/teams`: paths under /api/v1 lose that prefix, all others are complete. */
function nameOf(method: string, path: string): string {
  return `${method.toUpperCase()} ${path.startsWith(`${PREFIX}/`) ? path.slice(PREFIX.length) : path}`;
}

function types(calls: readonly Call[], shared: Document['components']['schemas']): string {
  const named = Object.entries(shared).map(
    ([name, schema]) => `export type ${name}Body = ${typeOf(schema, 'out', '')};\n`,
  );
  const entries = calls.map(({ name, operation }) => {
    const { summary, parameters: all = [] } = operation;
    const lines = [
      ...(summary ? [`  /** ${summary} */`] : []),
      `  ${quote(name)}: {`,
      '    input: {',
      ...parameters(all, 'path'),
      ...parameters(all, 'query'),
      ...bodyType(operation),
      '    };',
      `    answer: ${answerType(operation)};`,
      '  };',
    ];
    return lines.join('\n');
  });
  return `${MADE}
import type { RawBody } from './raw-body.ts';

export type Id = string | number | bigint;
export type Text = string | number | bigint | boolean;

${named.join('\n')}
export interface Operations {\n${entries.join('\n')}\n}
`;
}

function parameters(all: readonly Parameter[], place: 'path' | 'query'): string[] {
  const own = all.filter((one) => one.in === place);
  if (own.length === 0) return [];
  const fields = own.map(({ name, required, description, schema }) => {
    const type = place === 'path' ? 'Id' : queryType(schema);
    return `${comment(description, '        ')}        ${key(name)}${required ? `: ${type}` : `?: ${type} | undefined`};`;
  });
  const isNeeded = own.some(({ required }) => required);
  return [`      ${place}${isNeeded ? '' : '?'}: {\n${fields.join('\n')}\n      };`];
}

function queryType(schema: Schema): string {
  const isList = schema.type === 'array' || schema.anyOf?.some((one) => one.type === 'array');
  const choices = schema.enum ?? schema.anyOf?.map((one) => one.const);
  if (choices && choices.length > 0 && choices.every((one) => typeof one === 'string')) {
    return choices.map((one) => quote(String(one))).join(' | ');
  }
  return isList ? 'string | readonly string[]' : 'Text';
}

function bodyType({ requestBody }: Operation): string[] {
  if (!requestBody) return [];
  const schema = requestBody.content[JSON_TYPE]?.schema;
  return [`      body: ${schema ? `${typeOf(schema, 'in', '      ')} | RawBody` : 'RawBody'};`];
}

/** The answer of the first 2xx status. Any type other than JSON is text. */
function answerType({ responses }: Operation): string {
  const content = goodAnswer(responses)?.content;
  if (!content) return 'undefined';
  const schema = content[JSON_TYPE]?.schema;
  return schema ? typeOf(schema, 'out', '    ') : 'string';
}

function goodAnswer(responses: Operation['responses']): { readonly content?: Content } | undefined {
  const status = Object.keys(responses).find((one) => one.startsWith('2'));
  return status === undefined ? undefined : responses[status];
}

function typeOf(schema: Schema, direction: Direction, indent: string): string {
  if (schema.$ref) return `${schema.$ref.split('/').at(-1)}Body`;
  if ('const' in schema) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((one) => literal(one)).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants) return [...new Set(variants.map((one) => typeOf(one, direction, indent)))].join(' | ');
  if (schema.allOf) return schema.allOf.map((one) => typeOf(one, direction, indent)).join(' & ');
  if (Array.isArray(schema.type)) {
    return schema.type.map((type: string) => typeOf({ ...schema, type }, direction, indent)).join(' | ');
  }
  switch (schema.type) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'null':
      return 'null';
    case 'number':
      return 'number';
    case 'integer':
      return schema.format === 'int64' ? (direction === 'out' ? 'bigint' : 'bigint | number') : 'number';
    case 'array': {
      const item = typeOf(schema.items ?? {}, direction, indent);
      return / [|&] /.test(item) ? `readonly (${item})[]` : `readonly ${item}[]`;
    }
    case 'object':
      return objectType(schema, direction, indent);
    default:
      return schema.properties ? objectType(schema, direction, indent) : 'unknown';
  }
}

function objectType(schema: Schema, direction: Direction, indent: string) {
  const { properties, required } = schema;
  const additionalProperties = restOf(schema);
  const deeper = `${indent}  `;
  const fields = Object.entries(properties ?? {}).map(([name, part]) => {
    const isRequired = required?.includes(name) ?? false;
    const type = typeOf(part, direction, deeper);
    return `${comment(part.description, deeper)}${deeper}readonly ${key(name)}${isRequired ? '' : '?'}: ${type}${isRequired || direction === 'out' ? '' : ' | undefined'};`;
  });
  if (additionalProperties === true || (additionalProperties === undefined && fields.length === 0)) {
    fields.push(`${deeper}readonly [key: string]: unknown;`);
  } else if (typeof additionalProperties === 'object') {
    const type = typeOf(additionalProperties, direction, deeper);
    fields.push(`${deeper}readonly [key: string]: ${fields.length > 0 ? 'unknown' : type};`);
  }
  return fields.length === 0 ? 'Record<string, never>' : `{\n${fields.join('\n')}\n${indent}}`;
}

/**
 * Lists only the calls that need it: `int64` contains the paths that become bigint, `open` means that there are parts
 * without a type.
 */
function exactness(calls: readonly Call[], shared: Document['components']['schemas']): string {
  const rows = calls.flatMap(({ name, operation }) => {
    const schema = goodAnswer(operation.responses)?.content?.[JSON_TYPE]?.schema;
    if (!schema) return [];
    const found = { int64: new Set<string>(), open: false };
    look(schema, [], found, shared, new Set());
    if (found.int64.size === 0 && !found.open) return [];
    const places = [...found.int64].map((place) => quote(place)).join(', ');
    return [`  ${quote(name)}: { int64: [${places}]${found.open ? ', open: true' : ''} },`];
  });
  return `${MADE}

/** Where an answer holds int64, as paths in which * stands for every entry; \`open\` answers also hold what has no type. */
export interface Exactness {
  readonly int64: readonly string[];
  readonly open?: boolean;
}

export const EXACT: Readonly<Record<string, Exactness>> = {\n${rows.join('\n')}\n};\n`;
}

interface Found {
  readonly int64: Set<string>;
  open: boolean;
}

function look(
  schema: Schema,
  place: readonly string[],
  found: Found,
  shared: Document['components']['schemas'],
  seen: ReadonlySet<string>,
): void {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) ?? '';
    const target = shared[name];
    if (target && !seen.has(name)) look(target, place, found, shared, new Set([...seen, name]));
    return;
  }
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  for (const part of parts) look(part, place, found, shared, seen);
  if (schema.format === 'int64') found.int64.add(place.join('.'));
  for (const [name, part] of Object.entries(schema.properties ?? {})) {
    look(part, [...place, name], found, shared, seen);
  }
  if (schema.items) look(schema.items, [...place, '*'], found, shared, seen);
  const rest = restOf(schema);
  if (typeof rest === 'object') look(rest, [...place, '*'], found, shared, seen);
  const isUntyped = schema.type === undefined && parts.length === 0 && !schema.properties && !('const' in schema);
  if (rest === true || (isUntyped && !schema.enum) || isBareObject(schema)) found.open = true;
}

function isBareObject(schema: Schema): boolean {
  return schema.type === 'object' && schema.properties === undefined && restOf(schema) === undefined;
}

/** The type of properties that are not named. A record declares it with a pattern for their names. */
function restOf({ additionalProperties, patternProperties = {} }: Schema): boolean | Schema | undefined {
  return Object.values(patternProperties)[0] ?? additionalProperties;
}

function comment(text: string | undefined, indent: string): string {
  return text ? `${indent}/** ${text.replaceAll('*/', '* /').replaceAll('\n', ' ')} */\n` : '';
}

function key(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name);
}

function literal(value: unknown): string {
  return typeof value === 'string' ? quote(value) : JSON.stringify(value);
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
