import { spawn } from 'node:child_process';

/** What must pass besides the tests. */
const CHECKS: readonly (readonly [what: string, ...command: readonly string[]])[] = [
  ['format and lint', 'test/node_modules/@biomejs/biome/bin/biome', 'check', '.'],
  // The compiler works in parallel with itself by default, and the tests need the other cores.
  ['types', 'node_modules/typescript/bin/tsc', '-p', '.', '--checkers', '1'],
  ['types of the console', 'node_modules/typescript/bin/tsc', '-p', 'console', '--noEmit', '--checkers', '1'],
  ['generated files', 'scripts/generate.ts', '--check'],
];

/** Runs all checks at once. Returns the names of those that failed. */
export async function runChecks(print: (line: string) => void): Promise<string[]> {
  const results = await Promise.all(
    CHECKS.map(async ([what, ...args]) => {
      const { code, output } = await node(args);
      print(`${code === 0 ? '✔' : '✖'} ${what}: node ${args.join(' ')}${code === 0 ? '' : `\n${output}`}`);
      return code === 0 ? [] : [what];
    }),
  );
  return results.flat();
}

function node(args: readonly string[]): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    // The type checker is a Go program. If it collects garbage less often, it needs a third less processor time.
    const env = { ...process.env, GOGC: '400' };
    const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output += chunk;
      });
    }
    child.once('close', (code) => resolve({ code, output }));
  });
}
