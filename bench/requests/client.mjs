/** Sends requests from a thread of its own, so that the server's thread does nothing but serve them. */
import { parentPort } from 'node:worker_threads';

parentPort?.on('message', async ({ url, method, headers, body }) => {
  try {
    const answer = await fetch(url, { method, headers, body, redirect: 'manual' });
    let bytes = 0;
    let start = '';
    for await (const chunk of answer.body ?? []) {
      if (bytes < 300) start += Buffer.from(chunk).toString().slice(0, 300);
      bytes += chunk.length;
    }
    parentPort?.postMessage({ status: answer.status, bytes, start });
  } catch (error) {
    parentPort?.postMessage({ status: 0, bytes: 0, start: String(error) });
  }
});
