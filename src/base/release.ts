import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/**
 * The version of the API, which GET /version answers. Client libraries choose their calls by it. It has nothing to do
 * with the version of the release (docs/decisions/version.md).
 */
export const API_VERSION = 'v1.27.0';
/** This release: its version, the folder of its migrations, and the folder of its OpenAPI document. */
export const RELEASE_VERSION = `v${PACKAGE.version}`;
export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
export const API_DOCUMENTS = fileURLToPath(new URL('../../openapi', import.meta.url));
