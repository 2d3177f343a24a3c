import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PACKAGE = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

/** This release: its version, and the folder of the migrations that belong to it. */
export const VERSION = `v${PACKAGE.version}`;
export const MIGRATIONS = fileURLToPath(new URL('../../migrations', import.meta.url));
