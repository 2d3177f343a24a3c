import type { ClientRequest, IncomingMessage } from 'node:http';
import { UnacceptableResponse } from './response-meter.ts';

/** Sends a request, and waits for the beginning of its response. It rejects in every other case: nothing waits forever. */
export async function responseTo(request: ClientRequest, body?: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  // The listener stays: a connection that fails later must not end the process.
  request.once('response', resolve).on('error', reject);
  // Node reports neither of these as an error, and a signal ends only what has not ended.
  request.once('upgrade', (_message, connection) => {
    connection.destroy();
    reject(new UnacceptableResponse('the service changes to another protocol'));
  });
  request.once('close', () => reject(new UnacceptableResponse('the connection ended without a response')));
  request.end(body);
  return await promise;
}
