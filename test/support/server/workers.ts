import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { get, type ServerProcess } from './process.ts';

export interface Reply {
  /** The status, or the code of the error if the connection was lost. */
  readonly status: number | string;
  /** Which process answered: request IDs begin with what is random for each of them. */
  readonly process: string;
}

/** Sends one request, and never a second time. */
export function ask(url: string, token: string, agent?: Agent): Promise<Reply> {
  return new Promise((resolve) => {
    const headers = { Authorization: `token ${token}` };
    request(url, { headers, agent: agent ?? new Agent({ keepAlive: false }) }, (answer) => {
      const id = String(answer.headers['x-request-id']);
      answer.resume().once('end', () => resolve({ status: answer.statusCode ?? 0, process: id.slice(0, 24) }));
      answer.once('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? '', process: '' }));
    })
      .once('error', (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? error.message, process: '' }))
      .end();
  });
}

export interface Stream {
  answered: number;
  /** Whatever was not answered with 200. */
  readonly failures: string[];
  stop(): Promise<void>;
}

/** Clients that send one request after the other, half of them on connections that they keep. */
export function startStream(url: string, token: string, clients: number, restMs: number): Stream {
  let isOver = false;
  const stream: Stream = { answered: 0, failures: [], stop };
  const lives = Array.from({ length: clients }, (_, client) => live(new Agent({ keepAlive: client % 2 === 0 })));
  return stream;

  async function live(agent: Agent): Promise<void> {
    while (!isOver) {
      const { status } = await ask(url, token, agent);
      if (status === 200) stream.answered += 1;
      else stream.failures.push(String(status));
      await pause(restMs);
    }
    agent.destroy();
  }

  async function stop(): Promise<void> {
    isOver = true;
    await Promise.all(lives);
  }
}

/** The processes of the workers that have begun to serve, oldest first. */
export function workerPids(server: ServerProcess): number[] {
  const lines = server.stderr().matchAll(/"pid":(\d+),"msg":"worker \d+ serves"/g);
  return [...lines].map(([, pid]) => Number(pid));
}

/** A number of /metrics, summed over its labels. */
export async function metric(admin: string, name: string): Promise<number> {
  const text = await (await get(`${admin}/metrics`)).text();
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))];
  return values.reduce((sum, [, value]) => sum + Number(value), 0);
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
