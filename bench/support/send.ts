import { Agent, request } from 'node:http';

export interface Sender {
  /** Resolves with the text of the answer, and rejects if it is an error. */
  send(url: string, method: string, body?: object): Promise<string>;
  close(): void;
}

/** For requests that differ from each other. `load` sends the same one faster. */
export function createSender(token: string, connections: number): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const headers = { authorization: `token ${token}`, 'content-type': 'application/json' };
  return { send, close: () => agent.destroy() };

  function send(url: string, method: string, body?: object): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(url, { method, headers, agent }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        answer.on('end', () =>
          (answer.statusCode ?? 500) < 300
            ? resolve(text)
            : reject(new Error(`${method} ${url}: ${answer.statusCode} ${text}`)),
        );
      });
      sent.on('error', reject);
      sent.end(body && JSON.stringify(body));
    });
  }
}
