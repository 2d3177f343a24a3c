import { basename, dirname } from 'node:path';
import type { Import, SourceFile } from './imports.ts';

/**
 * The layers of src/, lowest first. A folder may import from a lower line. Folders on one line do not import each
 * other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['base'],
  ['db'],
  ['vault'],
  ['changes', 'outbox'],
  ['identity', 'idempotency'],
  ['http'],
  ['infrastructure'],
  ['history'],
  ['authz'],
  ['simulation'],
  ['users', 'guardrails'],
  ['organizations', 'factors', 'remedies', 'unused'],
  ['roles', 'invitations', 'clusters', 'contracts', 'tokens', 'credentials', 'orders', 'bus', 'audit', 'marketplace'],
  [
    'assignments',
    'robots',
    'buckets',
    'overview',
    'events',
    'search',
    'impact',
    'scim',
    'providers',
    'devices',
    'federation',
    'kubernetes',
  ],
  ['requests', 'reviews', 'agent', 'webhooks', 'access-map'],
  ['authzen'],
  ['forward'],
  ['organization-file'],
  ['mcp'],
  ['app', 'features', 'sealed-columns'],
  ['instance'],
  ['operations'],
  ['main'],
  ['cli'],
];
/** The folders whose files without a suffix are not rules. */
const WITHOUT_RULES = new Set(['base', 'db', 'http', 'operations', '']);
/** The suffixes that a file name can have: `roles.routes.ts`. */
const SUFFIXES = new Set(['routes', 'store', 'rows', 'view', 'wiring', 'client', 'gen', 'test']);
/** The server, and the packages that it is made of. */
const OURS = /^(?:src|packages\/\w+\/src)\//;
const OUTSIDE = new Set(['cli', 'console', 'client']);
/** Everything that the relation engine offers. Its other files are its own business, and that of its tests. */
const ENGINE = 'packages/rebac/';
const SOURCE = /\.(?:ts|tsx|mjs)$/;
const ENGINE_ENTRY = 'packages/rebac/src/rebac.ts';
/** What tests of the engine share with all others. The engine itself uses nothing of the product. */
const TEST_SUPPORT = /^test\/(?:support\/|counts\.ts$)/;
const DRIVERS = /^(pg|@electric-sql\/pglite)(\/|$)/;
const MAX_LINES = 400;
/** Files that are one table. A table may be as long as it needs to be. */
const TABLES = new Set([
  'src/base/config/settings.ts',
  'src/base/config/limits.ts',
  'src/base/reasons.ts',
  'test/runner/long.ts',
]);
/** A folder with fewer files needs no rooms. */
const MIN_FILES_TO_SPLIT = 10;
/** So many files that nothing else in their folder imports, and that import nothing else in it, are a folder. */
const MIN_FILES_APART = 3;
const MAX_LOOSE_FILES = 9;

/** Other files than clients that call `fetch`: guarded calls, and commands that look at a deployment from outside. */
const FETCHING = ['src/base/outbound/', 'src/operations/'];

/** Files whose exports have other names than the file, and why. This list can only get shorter. */
const KNOWN_OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['src/db/types.ts', 'the types that all files of the folder share'],
  ['packages/rebac/src/engine.ts', 'the verbs of the engine: check, allowed'],
]);

/** A transaction passes its query function to a store without using it, so its type names the type of the function. */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([['src/changes/write.ts', 'src/db/db.ts']]);

/** Names that occur in two folders of src/. This list can only get shorter. */
const KNOWN_DUPLICATES: readonly string[] = ['token'];

/** Everything in these files that breaks a rule, as messages. */
export function breaches(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap((file) => [...sizeAndShape(file), ...file.imports.flatMap((one) => wrongImport(file.path, one))]),
    ...cycles(files),
  ];
}

/** Breaches that show only in the whole tree. */
export function breachesOfTree(files: readonly SourceFile[]): string[] {
  const all = files.map(({ path }) => path);
  const paths = all.filter((path) => OURS.test(path));
  const loose = paths.filter((path) => dirname(path) === 'src').length;
  const homes = Map.groupBy(paths, (path) => basename(path).split('.')[0] ?? '');
  const duplicates = [...homes].filter(([, found]) => new Set(found.map((path) => dirname(path))).size > 1);
  const names = duplicates.map(([name]) => name);
  const others = files.filter(({ path, exports }) => KNOWN_OTHER_NAMES.has(path) && !carriesName(path, exports));
  const missing = [...KNOWN_OTHER_NAMES.keys()].filter((path) => !others.some((file) => file.path === path));
  return [
    ...(loose > MAX_LOOSE_FILES ? [`src has ${loose} files: look for the folders in it`] : []),
    ...[...Map.groupBy(files, ({ path }) => dirname(path))].flatMap(([folder, inside]) => apart(folder, inside)),
    ...all.filter((path) => dirname(path) === 'test/support').map((path) => `${path} is in none of the folders there`),
    ...missing.map((path) => `${path} needs no exception for its name any more: take it from the list`),
    ...duplicates
      .filter(([name]) => !KNOWN_DUPLICATES.includes(name))
      .map(([name, found]) => `${name} is the name of files in several folders: ${found.join(', ')}`),
    ...KNOWN_DUPLICATES.filter((name) => !names.includes(name)).map(
      (name) => `${name} is no duplicate any more: take it from the list`,
    ),
  ];
}

/**
 * Files of a folder that have no import to the others, nor from them. The wiring file connects everything, so it does
 * not count. Next to the largest group, each other group is a folder that has not been made.
 */
function apart(folder: string, inside: readonly SourceFile[]): string[] {
  if (!OURS.test(`${folder}/`) || folder === 'src') return [];
  if (inside.length < MIN_FILES_TO_SPLIT) return [];
  const groups: Set<string>[] = [];
  for (const { path, imports } of inside.filter((file) => suffixOf(file.path) !== 'wiring')) {
    const group = new Set([
      path,
      ...imports.map(({ target }) => target).filter((target) => dirname(target) === folder),
    ]);
    const joined = groups.filter((other) => !other.isDisjointFrom(group));
    groups.splice(0, groups.length, ...groups.filter((other) => !joined.includes(other)));
    groups.push(joined.reduce((sum, other) => sum.union(other), group));
  }
  const [, ...others] = groups
    .map((group) => [...group].filter((path) => suffixOf(path) !== 'wiring').sort())
    .sort((one, other) => other.length - one.length);
  return others
    .filter((group) => group.length >= MIN_FILES_APART)
    .map((group) => `${group.join(', ')} have no import to the rest of ${folder}: they are a folder of their own`);
}

function sizeAndShape({ path, lines, exports, hasDefaultExport, hasFetch, leavesReply }: SourceFile): string[] {
  const faults: string[] = [];
  if (lines > MAX_LINES && !path.endsWith('.gen.ts') && !TABLES.has(path))
    faults.push(`${path} has ${lines} lines: look for the second noun`);
  if (hasDefaultExport) faults.push(`${path} has a default export`);
  if (!OURS.test(path)) return faults;
  if (path.startsWith('src/') && layerOf(path) < 0) faults.push(`${path} is in no layer`);
  const suffix = suffixOf(path);
  if (suffix !== '' && !SUFFIXES.has(suffix)) faults.push(`${path} has a suffix that says nothing: .${suffix}`);
  if (!carriesName(path, exports) && !KNOWN_OTHER_NAMES.has(path))
    faults.push(`${path} exports nothing that carries its name: ${exports.join(', ')}`);
  const mayFetch = suffix === 'client' || FETCHING.some((folder) => path.startsWith(folder));
  if (leavesReply) faults.push(`${path} sends a text and does not return the reply`);
  if (hasFetch && !mayFetch) faults.push(`${path} calls fetch: only clients do`);
  return faults;
}

/**
 * Whether an export shares a word with the name of its file, in any form of the word: `sealing.ts` has `openSealed`,
 * `openfga.client.ts` has `createOpenFga`. Files without exports are started, not imported.
 */
function carriesName(path: string, exports: readonly string[]): boolean {
  const name = basename(path).split('.')[0] ?? '';
  const roots = [...name.split('-').map(rootOf), name.replaceAll('-', '')];
  const shared = (words: readonly string[]) =>
    words.some((_, index) => roots.some((root) => words.slice(index).join('').startsWith(root)));
  return exports.length === 0 || path.endsWith('.gen.ts') || exports.some((one) => shared(wordsOf(one)));
}

function wordsOf(identifier: string): string[] {
  const spaced = identifier.replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2');
  return spaced.toLowerCase().split(/[^a-z0-9]+/);
}

function rootOf(word: string): string {
  return word.length > 4 ? word.replace(/(ing|ations?|ion|ies|er|ed|es|s|y|e)$/, '') : word.replace(/s$/, '');
}

function wrongImport(path: string, { target, typeOnly }: Import): string[] {
  const fault = (reason: string) => [`${path} imports ${target}: ${reason}`];
  const top = path.split('/')[0] ?? '';
  if (path.startsWith(ENGINE) && SOURCE.test(target) && !target.startsWith(ENGINE)) {
    const isTest = path.startsWith(`${ENGINE}test/`) && TEST_SUPPORT.test(target);
    if (!isTest) return fault('the engine knows nothing of the product');
  }
  if (!path.startsWith(ENGINE) && target.startsWith(`${ENGINE}src/`) && target !== ENGINE_ENTRY)
    return fault(`only ${ENGINE_ENTRY} is for others`);
  if (OUTSIDE.has(top)) return target.startsWith('src/') ? fault('it talks HTTP only') : [];
  if (top !== 'src') return [];
  if (DRIVERS.test(target) && folderOf(path) !== 'db') return fault('only db knows a driver');
  if (typeOnly && EXCEPTIONS.get(path) === target) return [];

  const kind = kindOf(path);
  if (kind === 'rules') {
    if (folderOf(target) === 'http' || target.startsWith('fastify')) return fault('rules know no HTTP');
    if (folderOf(target) === 'db' || kindOf(target) === 'store') return fault('rules know no storage');
  }
  if (kind === 'routes' && (kindOf(target) === 'store' || folderOf(target) === 'db')) return fault('routes ask rules');
  if (kind === 'store' && (folderOf(target) === 'http' || target.startsWith('fastify'))) {
    return fault('stores know no HTTP');
  }
  if (kindOf(target) === 'wiring' && !typeOnly && kind !== 'wiring' && folderOf(target) !== '') {
    if (!['features', 'instance'].includes(folderOf(path))) return fault('only features.ts and instance.ts wire');
  }
  const isUpward = folderOf(path) !== folderOf(target) && target.startsWith('src/') && layerOf(target) >= layerOf(path);
  return isUpward ? fault('the layer is not below') : [];
}

/** The folder in src/, or the name of a file directly in src/. */
function folderOf(path: string): string {
  const [top, second = ''] = path.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : '';
}

function layerOf(path: string): number {
  return LAYERS.findIndex((folders) => folders.includes(folderOf(path)));
}

function suffixOf(path: string): string {
  const parts = basename(path, '.ts').split('.');
  return parts.length > 1 ? (parts.at(-1) ?? '') : '';
}

/** The suffix, as in `roles.routes.ts`. Without one, a file in a folder with rules is rules. */
function kindOf(path: string): string {
  const suffix = suffixOf(path);
  if (suffix !== '') return suffix;
  const isLoose = path.split('/').length === 2;
  return path.startsWith('src/') && !isLoose && !WITHOUT_RULES.has(folderOf(path)) ? 'rules' : '';
}

/** Import cycles, including those of types. */
function cycles(files: readonly SourceFile[]): string[] {
  const targets = new Map(files.map(({ path, imports }) => [path, imports.map((one) => one.target)]));
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push(`cycle: ${[...trail.slice(start), path].join(' → ')}`);
    if (start >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return found;
}
