import { basename } from 'node:path';
import type { Import, SourceFile } from './imports.ts';

/** `main → house → app, groups → authz | user | marketplace | administration → http → bus → rebac | directory → vault → errors, db`: left may import right. */
const FLOORS: readonly (readonly string[])[] = [
  ['errors', 'addresses'],
  [
    'addresses',
    'release',
    'json',
    'db',
    'config',
    'log',
    'keys',
    'metrics',
    'mail',
    'signed-text',
    'operator',
    'outbound',
  ],
  ['vault'],
  ['rebac', 'directory'],
  ['bus'],
  ['http', 'ground'],
  ['authz', 'user', 'marketplace', 'administration', 'admin'],
  ['app', 'groups', 'sealed-columns'],
  ['house'],
  ['demo', 'first-start', 'backup', 'doctor', 'server-commands'],
  ['commands'],
  ['main'],
  ['cli'],
];
const WITH_RULES = new Set(['authz', 'user', 'marketplace', 'administration', 'rebac', 'directory', 'vault', 'bus']);
const OUTSIDE = new Set(['cli', 'console', 'client']);
const DRIVERS = /^(pg|@electric-sql\/pglite)(\/|$)/;
const MOST_LINES = 400;

/**
 * The clock hands the query function of a transaction to a store without using it, so it names its type; everybody
 * else gets that type from the clock.
 */
const EXCEPTIONS: ReadonlyMap<string, string> = new Map([['src/directory/clock.ts', 'src/db/db.ts']]);

/** Everything in these files that breaks the plan, in words. */
export function breaches(files: readonly SourceFile[]): string[] {
  return [
    ...files.flatMap((file) => [...sizeAndShape(file), ...file.imports.flatMap((one) => wrongImport(file.path, one))]),
    ...circles(files),
  ];
}

function sizeAndShape({ path, lines, hasDefaultExport }: SourceFile): string[] {
  const faults: string[] = [];
  if (lines > MOST_LINES && !path.endsWith('.gen.ts'))
    faults.push(`${path} has ${lines} lines: look for the second noun`);
  if (hasDefaultExport) faults.push(`${path} has a default export`);
  if (path.startsWith('src/') && floorOf(path) < 0) faults.push(`${path} has no place in the plan`);
  return faults;
}

function wrongImport(path: string, { target, typeOnly }: Import): string[] {
  const fault = (reason: string) => [`${path} imports ${target}: ${reason}`];
  const top = path.split('/')[0] ?? '';
  if (OUTSIDE.has(top)) return target.startsWith('src/') ? fault('it talks HTTP only') : [];
  if (top !== 'src') return [];
  if (DRIVERS.test(target) && placeOf(path) !== 'db') return fault('only db knows a driver');
  if (typeOnly && EXCEPTIONS.get(path) === target) return [];

  const kind = kindOf(path);
  if (kind === 'rules') {
    if (placeOf(target) === 'http' || target.startsWith('fastify')) return fault('rules know no HTTP');
    if (placeOf(target) === 'db' || kindOf(target) === 'store') return fault('rules know no storage');
  }
  if (kind === 'routes' && (kindOf(target) === 'store' || placeOf(target) === 'db')) return fault('routes ask rules');
  if (kind === 'store' && (placeOf(target) === 'http' || target.startsWith('fastify'))) {
    return fault('stores know no HTTP');
  }
  const isUpward = placeOf(path) !== placeOf(target) && target.startsWith('src/') && floorOf(target) >= floorOf(path);
  return isUpward ? fault('the arrow points the other way') : [];
}

function placeOf(path: string): string {
  const [top, second = ''] = path.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : '';
}

function floorOf(path: string): number {
  return FLOORS.findIndex((places) => places.includes(placeOf(path)));
}

/** `roles.routes.ts`, `roles.store.ts`, `user.view.ts`, `user.group.ts` say what they are; without such a word it is rules. */
function kindOf(path: string): string {
  const parts = basename(path, '.ts').split('.');
  if (parts.length > 1) return parts.at(-1) ?? '';
  return WITH_RULES.has(placeOf(path)) ? 'rules' : '';
}

/** Circles of imports that are still there at run time. */
function circles(files: readonly SourceFile[]): string[] {
  const targets = new Map(
    files.map(({ path, imports }) => [path, imports.filter((one) => !one.typeOnly).map((one) => one.target)]),
  );
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) found.push(`circle: ${[...trail.slice(start), path].join(' → ')}`);
    if (start >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of targets.keys()) visit(path, []);
  return found;
}
