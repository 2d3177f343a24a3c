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

/** Where a part of a modular model comes from. */
interface OriginJson {
  readonly module?: string;
  readonly source_info?: { readonly file?: string } | null;
}

export interface ConditionJson {
  readonly name: string;
  readonly expression: string;
  readonly parameters?: Readonly<Record<string, ParameterTypeJson>>;
  readonly metadata?: OriginJson | null;
}

export interface TypeJson {
  readonly type: string;
  readonly relations?: Readonly<Record<string, RewriteJson>>;
  readonly metadata?:
    | (OriginJson & {
        readonly relations?: Readonly<
          Record<string, OriginJson & { readonly directly_related_user_types?: readonly RestrictionJson[] }>
        > | null;
      })
    | null;
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

/** Converts text to JSON. Rejects it with the line of every syntax error. What the text means is not checked here. */
export async function parseSyntax(text: string): Promise<ModelJson> {
  const { transformer } = await language();
  return rejectingFaults(() => restored(transformer.transformDSLToJSONObject(disguised(text))));
}

/** The files that an `fga.mod` names, joined into one model. */
export async function parseModules(files: readonly ModuleFile[], schemaVersion: string): Promise<ModelJson> {
  const { transformer } = await language();
  const disguisedFiles = files.map(({ name, contents }) => ({ name, contents: disguised(contents) }));
  return rejectingFaults(() => restored(transformer.transformModuleFilesToModel(disguisedFiles, schemaVersion)));
}

/** The parser costs 160 ms and some megabytes, so it is loaded only when a model is parsed. */
async function language() {
  const { default: parser } = await import('@openfga/syntax-transformer');
  return parser;
}

/**
 * The parser looks names up in plain objects, so it takes a relation that is named like a property of every object
 * (`constructor`, `toString`) for a duplicate. It gets to see such names with this ending.
 */
const DISGUISE = '_0builtin0';
const BUILT_IN = new RegExp(
  `(?<![\\w.-])(?:${Object.getOwnPropertyNames(Object.prototype).join('|')})(?![\\w.-])`,
  'g',
);

function disguised(text: string): string {
  return text.replace(BUILT_IN, `$&${DISGUISE}`);
}

/** A model may define no types; upstream then omits the list. */
function restored(parsed: object): ModelJson {
  const json = JSON.parse(JSON.stringify(parsed).replaceAll(DISGUISE, '')) as ModelJson;
  return { ...json, type_definitions: json.type_definitions ?? [] };
}

function rejectingFaults<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const faults = (error as { errors?: readonly LanguageFault[] }).errors ?? [];
    const told = faults.map((fault) => `${place(fault)}${fault.msg ?? 'syntax error'}`);
    const message = told.length > 0 ? told.join('; ') : String(error);
    throw new RebacError('invalidModel', message.replaceAll(DISGUISE, ''), error);
  }
}

function place(fault: LanguageFault): string {
  const line = fault.line === undefined ? '' : `line ${fault.line.start + 1}: `;
  return fault.file === undefined ? line : `${fault.file} ${line}`;
}
