import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Before `npm pack`: builds what is packed, and lists the packages that it needs (CycloneDX). */
const root = dirname(dirname(fileURLToPath(import.meta.url)));
// npm reads the list of packed files from standard output.
const build = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs'), ...process.argv.slice(2)], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
if (build.status !== 0) process.exit(build.status ?? 1);
const npm = process.env.npm_execpath;
const [command, ...before] = npm?.endsWith('.js') ? [process.execPath, npm] : ['npm'];
const sbom = [...before, 'sbom', '--omit=dev', '--package-lock-only', '--sbom-format=cyclonedx'];
const { status, stdout } = spawnSync(command, sbom, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] });
if (status !== 0) process.exit(status ?? 1);
writeFileSync(join(root, 'dist', 'sbom.cdx.json'), stdout);
