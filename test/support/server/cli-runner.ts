/**
 * Runs one command line after the other in this one process, which `openCli` starts. Starting Node and loading the
 * program takes ten times as long as what most lines do.
 */
import { Readable } from 'node:stream';
import { main } from '../../../cli/main.ts';
import type { CommandLine, Said } from './cli.ts';

const real = { stdout: process.stdout, stderr: process.stderr };
// The program adds listeners to both streams for every line.
for (const stream of Object.values(real)) stream.setMaxListeners(0);
let turn = Promise.resolve();

process.on('message', ({ id, line }: { id: number; line: CommandLine }) => {
  turn = turn.then(async () => void process.send?.({ id, said: await run(line) }));
});

async function run({ args, cwd, env, input }: CommandLine): Promise<Said> {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  process.exitCode = undefined;
  const stdin = Readable.from(input === undefined ? [] : [Buffer.from(input)]);
  Object.defineProperty(process, 'stdin', { value: stdin, configurable: true });
  const [stdout, stderr] = [listen('stdout'), listen('stderr')];
  await main(args, {
    runOnServer: () => Promise.reject(new Error('a server command needs a process of its own: openCliProcess')),
  });
  return { code: Number(process.exitCode ?? 0), signal: null, stdout: stdout(), stderr: stderr() };
}

/** Captures what is written to the stream. The returned function returns it. */
function listen(name: 'stdout' | 'stderr'): () => string {
  let text = '';
  real[name].write = (chunk: string | Uint8Array) => {
    text += chunk;
    return true;
  };
  return () => text;
}
