import { chmodSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { AppError, ERROR_KINDS, type ErrorKind } from '../base/errors.ts';
import type { Instance } from '../instance.ts';

/** A command as it was typed, and the secrets that it may need. */
export interface CommandRequest {
  readonly argv: readonly string[];
  /** Base64 of ATRIUM_NEXT_KEY. */
  readonly nextKey?: string | undefined;
  /** What the operator entered or piped in. Secrets are never arguments. */
  readonly secret?: string | undefined;
}

export type Print = (line: string) => void;
/** The half of a command that needs the instance. */
export type RunInServer = (instance: Instance, print: Print) => Promise<void>;

interface Reply {
  readonly line?: string;
  readonly failed?: string;
  readonly kind?: ErrorKind;
}

/**
 * Takes commands from the operator of this machine, on a socket in the data folder that only the server's own user can
 * open.
 */
export async function listenForCommands(
  dataDir: string,
  run: (request: CommandRequest, print: Print) => Promise<void>,
): Promise<() => void> {
  const path = socketIn(dataDir);
  rmSync(path, { force: true });
  const server = createServer((socket) => void answer(socket, run));
  const mask = process.umask(0o177);
  try {
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    chmodSync(path, 0o600);
  } finally {
    process.umask(mask);
  }
  server.unref();
  return () => void server.close();
}

async function answer(socket: Socket, run: (request: CommandRequest, print: Print) => Promise<void>): Promise<void> {
  const send = (reply: Reply) => void (socket.writable && socket.write(`${JSON.stringify(reply)}\n`));
  socket.on('error', () => undefined);
  try {
    const { value } = await createInterface({ input: socket })[Symbol.asyncIterator]().next();
    if (typeof value !== 'string') return;
    await run(JSON.parse(value) as CommandRequest, (line) => send({ line }));
    send({});
  } catch (error) {
    send({ failed: (error as Error).message, kind: kindOf(error) });
  } finally {
    socket.end();
  }
}

/** Sends the command to the server of this data folder; returns false if no server is running there. */
export async function askServer(dataDir: string, request: CommandRequest, print: Print): Promise<boolean> {
  const socket = connect(socketIn(dataDir));
  try {
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
  } catch {
    return false;
  }
  socket.write(`${JSON.stringify(request)}\n`);
  for await (const text of createInterface({ input: socket })) {
    const { line, failed, kind } = JSON.parse(text) as Reply;
    if (failed !== undefined) throw new AppError(kind && ERROR_KINDS.includes(kind) ? kind : 'internal', failed);
    if (line === undefined) return true;
    print(line);
  }
  throw new AppError('unavailable', 'the server stopped before the command finished');
}

/** A mistyped option is not a fault of the program, whichever process parsed it. */
export function kindOf(error: unknown): ErrorKind {
  if (error instanceof AppError) return error.kind;
  const code = String((error as NodeJS.ErrnoException | undefined)?.code ?? '');
  return code.startsWith('ERR_PARSE_ARGS') ? 'invalid' : 'internal';
}

function socketIn(dataDir: string): string {
  return join(dataDir, 'atrium.sock');
}
