import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { bundleOf, bundlesOf } from './build-marks.mjs';

/**
 * Bundles the server into a few files. Node finds, reads and links every module by itself, and ours and those of some
 * libraries are more than a thousand small ones: from a bundle, a start takes half of the time and 30 MiB less.
 *
 * With a folder as its argument, the bundle is written there. Otherwise it is for `npm start` in this clone, in a folder
 * of its own for each state of the sources: a server that runs still loads what it rarely needs from its own.
 */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** Each is a program or a thread. The thread is started from a file next to the module that starts it. */
const ENTRIES = { main: 'src/main.ts', cli: 'src/cli.ts', 'pglite-thread': 'src/db/pglite/pglite-thread.ts' };
/** Libraries of many small modules. All others stay packages. */
const BUNDLED = ['typebox', '@fastify/type-provider-typebox', 'yaml', 'jose', 'openid-client', 'oauth4webapi', 're2js'];
const IS_PACKAGE = /^(?:@[^/]+\/)?[^/.:][^/:]*/;
/** Servers that were started from an older one still need it. */
const KEPT = 5;

const [folder] = process.argv.slice(2);
if (folder !== undefined) await bundle(folder);
else await bundleForThisClone();

async function bundleForThisClone() {
  const target = bundleOf(ROOT);
  if (existsSync(target)) return;
  mkdirSync(bundlesOf(ROOT), { recursive: true });
  // Another start may do the same at this moment. Whichever is complete first is used.
  const made = mkdtempSync(join(bundlesOf(ROOT), '.new-'));
  await bundle(made);
  try {
    renameSync(made, target);
  } catch (error) {
    rmSync(made, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
  const others = readdirSync(bundlesOf(ROOT)).map((name) => join(bundlesOf(ROOT), name));
  const byAge = others.sort((one, other) => statSync(other).mtimeMs - statSync(one).mtimeMs);
  for (const old of byAge.slice(KEPT)) rmSync(old, { recursive: true, force: true });
}

async function bundle(output) {
  const build = await rolldown({
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, join(ROOT, file)])),
    platform: 'node',
    external: (name) => {
      const [packageName] = IS_PACKAGE.exec(name) ?? [];
      return packageName !== undefined && !BUNDLED.includes(packageName);
    },
  });
  // Names and lines stay as they are, so that the stack of an error can be read without a map.
  await build.write({ dir: output, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' });
  await build.close();
  // What the server reads beside its modules.
  for (const file of globSync('**/*', { cwd: join(ROOT, 'src') })) {
    const source = join(ROOT, 'src', file);
    if (extname(file) !== '.ts' && statSync(source).isFile()) cpSync(source, join(output, basename(file)));
  }
}
