import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** This release: its version, the folder of its migrations, and the folder of its OpenAPI document. */
export const VERSION = `v${PACKAGE.version}`;
export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
export const API_DOCUMENTS = fileURLToPath(new URL('../../openapi', import.meta.url));
