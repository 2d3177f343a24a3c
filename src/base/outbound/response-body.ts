import { MAX_PIECES, UnacceptableResponse } from './response-meter.ts';

/**
 * The body of a response of `fetch`, decompressed. Stops as soon as it is too long: a server that never stops sending must
 * not fill the memory.
 */
export async function readBody(response: Response, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.byteLength;
    // Leaving the loop cancels the body, which closes the connection.
    if (size > maxBytes) throw new UnacceptableResponse(`the response is larger than ${maxBytes / 1024} KiB`);
    if (chunks.push(chunk) > MAX_PIECES) throw new UnacceptableResponse('the response comes in too many pieces');
  }
  return Buffer.concat(chunks);
}
