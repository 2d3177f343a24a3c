import { parentPort } from 'node:worker_threads';

/** A request of the test, and how long its answer took as a thread of its own sees it. */
export interface TimedRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
}

export interface TimedAnswer {
  readonly ms: number;
  readonly status: number;
  readonly text: string;
}

// The server works on after its answer. In the thread of the server, that would delay the clock of the client.
parentPort?.on('message', async ({ url, headers, body }: TimedRequest) => {
  const all = { 'Content-Type': 'application/json', ...headers };
  const began = performance.now();
  const answer = await fetch(url, { method: 'POST', headers: all, body: JSON.stringify(body) });
  const text = await answer.text();
  parentPort?.postMessage({ ms: performance.now() - began, status: answer.status, text } satisfies TimedAnswer);
});
