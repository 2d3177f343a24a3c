import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { modelFiles } from './generate-model.ts';
import { schemaOfRelease } from './schema.ts';

/** Writes the files that are generated from the code. With --check, only reports which of them are stale. */
const isCheck = process.argv.includes('--check');
// Everything else may need the model as it is now, so it comes first.
const model = await modelFiles(readFileSync('src/authz/platform.fga', 'utf8'));
if (!isCheck) for (const [path, text] of Object.entries(model)) writeFileSync(path, text);
const { generatedFiles } = await import('./generated.ts');
// The schema needs a database, so a test checks it instead (test/db/schema.test.ts).
const schema = isCheck ? {} : await schemaOfRelease();
const files = Object.entries({ ...(await generatedFiles()), ...schema });
const stale = files.filter(([path, text]) => !existsSync(path) || readFileSync(path, 'utf8') !== text);
for (const [path, text] of stale) {
  if (!isCheck) writeFileSync(path, text);
  process.stdout.write(`${path} ${isCheck ? 'is stale: run npm run generate' : 'was written'}\n`);
}
// The code that generates the page about the command line imports generated files itself, so it may need a second run.
if (!isCheck && stale.some(([path]) => path.endsWith('.gen.ts'))) {
  process.exit(spawnSync(process.execPath, process.argv.slice(1), { stdio: 'inherit' }).status ?? 1);
}
process.exit(isCheck && stale.length > 0 ? 1 : 0);
