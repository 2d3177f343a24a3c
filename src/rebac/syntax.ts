import { RebacError } from './rebac-error.ts';

/** The JSON form of a model, as far as the engine reads it. OpenFGA's own parser produces it from `.fga` text. */
export interface RewriteJson {
  readonly this?: object;
  readonly computedUserset?: { readonly relation?: string };
  readonly tupleToUserset?: {
    readonly tupleset?: { readonly relation?: string };
    readonly computedUserset?: { readonly relation?: string };
  };
  readonly union?: { readonly child?: readonly RewriteJson[] };
  readonly intersection?: { readonly child?: readonly RewriteJson[] };
  readonly difference?: { readonly base?: RewriteJson; readonly subtract?: RewriteJson };
}

export interface RestrictionJson {
  readonly type: string;
  readonly relation?: string;
  readonly wildcard?: object;
  readonly condition?: string;
}

export interface ParameterTypeJson {
  readonly type_name: string;
  readonly generic_types?: readonly ParameterTypeJson[];
}

export interface ConditionJson {
  readonly name: string;
  readonly expression: string;
  readonly parameters?: Readonly<Record<string, ParameterTypeJson>>;
}

export interface TypeJson {
  readonly type: string;
  readonly relations?: Readonly<Record<string, RewriteJson>>;
  readonly metadata?: {
    readonly relations?: Readonly<
      Record<string, { readonly directly_related_user_types?: readonly RestrictionJson[] }>
    > | null;
  } | null;
}

export interface ModelJson {
  readonly schema_version: string;
  readonly type_definitions: readonly TypeJson[];
  readonly conditions?: Readonly<Record<string, ConditionJson>>;
}

export interface ModuleFile {
  readonly name: string;
  readonly contents: string;
}

interface LanguageFault {
  readonly line?: { readonly start: number };
  readonly msg?: string;
  readonly file?: string;
}

/** The validator finds the line of a fault by its text, and misses a line that ends in a comment. */
const TRAILING_COMMENT = /^([ \t]*(?:type|extend|relations|define|schema|module)\b.*?)[ \t]+#.*$/gm;

/** Converts text to JSON. Rejects it with the line and the fault of everything that is wrong. */
export async function parseText(text: string): Promise<ModelJson> {
  const { transformer, validator } = await language();
  const plain = text.replace(TRAILING_COMMENT, '$1');
  return refusing(() => {
    validator.validateDSL(plain);
    return withTypes(transformer.transformDSLToJSONObject(plain) as unknown as ModelJson);
  });
}

/** The files that an `fga.mod` names, joined into one model. */
export async function parseModules(files: readonly ModuleFile[], schemaVersion: string): Promise<ModelJson> {
  const { transformer, validator } = await language();
  return refusing(() => {
    const json = transformer.transformModuleFilesToModel([...files], schemaVersion);
    validator.validateJSON(json as Parameters<typeof validator.validateJSON>[0]);
    return withTypes(json as unknown as ModelJson);
  });
}

/** A model given as JSON must follow the same rules. */
export async function parseJson(json: ModelJson): Promise<ModelJson> {
  const { validator } = await language();
  return refusing(() => {
    validator.validateJSON(json as unknown as Parameters<typeof validator.validateJSON>[0]);
    return withTypes(json);
  });
}

/** The parser costs 160 ms and some megabytes, so it is loaded only when a model is parsed. */
async function language() {
  const { default: parser } = await import('@openfga/syntax-transformer');
  return parser;
}

/** A model may define no types; upstream then omits the list. */
function withTypes(json: ModelJson): ModelJson {
  return { ...json, type_definitions: json.type_definitions ?? [] };
}

function refusing<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const faults = (error as { errors?: readonly LanguageFault[] }).errors ?? [];
    const told = faults.map((fault) => `${place(fault)}${fault.msg ?? 'syntax error'}`);
    throw new RebacError('invalidModel', told.length > 0 ? told.join('; ') : String(error), error);
  }
}

function place(fault: LanguageFault): string {
  const line = fault.line === undefined ? '' : `line ${fault.line.start + 1}: `;
  return fault.file === undefined ? line : `${fault.file} ${line}`;
}
