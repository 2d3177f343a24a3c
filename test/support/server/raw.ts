import { connect } from 'node:net';

/** An answer as it was on the wire. */
export interface RawAnswer {
  /** 0 if the connection was closed without an answer. */
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
}

const PATIENCE_MS = 10_000;

/** Sends bytes that no HTTP client would send. Several chunks are sent one after the other. */
export function sendRaw(url: string, chunks: readonly (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const socket = connect(Number(port), hostname);
    const finish = () => {
      clearTimeout(impatience);
      socket.destroy();
      resolve(read(received));
    };
    const impatience = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no whole answer to ${JSON.stringify(String(chunks[0]).slice(0, 80))}: ${received.toString()}`));
    }, PATIENCE_MS);
    socket.on('connect', () => {
      for (const chunk of chunks) socket.write(typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk);
    });
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      if (isWhole(received)) finish();
    });
    // The server may close while we are still sending what it rejects. The answer it sent before that counts.
    socket.on('error', () => undefined);
    socket.on('close', finish);
  });
}

function isWhole(bytes: Buffer): boolean {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1];
  return length !== undefined && bytes.length >= end + 4 + Number(length);
}

function read(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  const [first = '', ...lines] = bytes.subarray(0, Math.max(0, end)).toString('latin1').split('\r\n');
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const text = bytes.subarray(end + 4).toString('utf8');
  return { status: Number(first.split(' ')[1] ?? 0), headers: new Map(headers), text: end < 0 ? '' : text };
}
