import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The folder of this release, wherever in it the code runs from: its sources, or what was built of them. */
export const ROOT = folderWithPackage(import.meta.dirname);
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

/**
 * The version of the API, which GET /version answers. Client libraries choose their calls by it. It has nothing to do
 * with the version of the release (docs/decisions/version.md).
 */
export const API_VERSION = 'v1.27.0';
/** This release: its version, the folder of its migrations, and the folder of its OpenAPI document. */
export const RELEASE_VERSION = `v${PACKAGE.version}`;
export const MIGRATIONS = join(ROOT, 'migrations');
export const API_DOCUMENTS = join(ROOT, 'openapi');

function folderWithPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json is missing');
  return folderWithPackage(parent);
}
