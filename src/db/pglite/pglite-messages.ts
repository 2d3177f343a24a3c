/**
 * What the thread tells the server: the answer of PostgreSQL, or what else there is to report. What a call causes is
 * reported before its answer.
 */
export type PgliteReport =
  | Uint8Array<ArrayBuffer>
  | { readonly kind: 'started' | 'segment' | 'closed' }
  | { readonly kind: 'words' | 'fault' | 'panic'; readonly text: string }
  | { readonly kind: 'rejected'; readonly text: string; readonly isOurs: boolean };

/** What the server tells the thread: messages for PostgreSQL, or to end. */
export type PgliteCall = Uint8Array<ArrayBuffer> | 'close';

/** Shorter messages are copied, which is faster than moving them. */
const LONG_BYTES = 64 * 1024;

export function transferables(message: unknown): ArrayBuffer[] {
  return message instanceof Uint8Array && message.length > LONG_BYTES ? [message.buffer as ArrayBuffer] : [];
}

/** These bytes in a memory of their own, which can be moved to another thread. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
