import { startServer } from './process.ts';

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** Runs a server command in its own process. */
export async function atrium(env: Readonly<Record<string, string>>, ...args: string[]): Promise<Said> {
  const command = startServer({ main: 'src/cli.ts', args, env });
  const { code } = await command.ended;
  return { code, out: command.stdout(), err: command.stderr() };
}
