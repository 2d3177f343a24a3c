/** npm run fga-test -- FILE…: runs OpenFGA test files (consolidated, matrix, `.fga.yaml` stores) against the engine. */
import { runFile } from './file.ts';

const files = process.argv.slice(2);
const write = (line: string): boolean => process.stdout.write(`${line}\n`);
let held = 0;
let total = 0;
for (const file of files) {
  const report = await runFile(file);
  held += report.held;
  total += report.total;
  write(`${report.held}/${report.total} hold  ${file}`);
  for (const failure of report.failures) write(`  FAILS ${failure}`);
}
write(`${held}/${total} hold in total, ${files.length} files`);
if (held !== total || files.length === 0) process.exitCode = 1;
