import { connect, type Socket } from 'node:net';

export interface Shot {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const OK = Buffer.from('HTTP/1.1 200 ');
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Keeps this many connections busy, each with one request after the other. Returns how many requests per second were
 * answered with 200. A general load generator takes more time per answer than the server does, and even more for
 * answers with many headers: on two cores it measures itself. To see that, set BENCH_LOAD=autocannon.
 */
export async function load(
  shot: Shot,
  connections: number,
  seconds: number,
  /** What each connection asks for, in turn, instead of the address of the shot. */
  urls: readonly string[] = [shot.url],
): Promise<number> {
  if (process.env.BENCH_LOAD === 'autocannon') return await byAutocannon(shot, connections, seconds);
  const url = new URL(shot.url);
  const requests = urls.map((one) => requestOf(shot, new URL(one)));
  const sockets = await Promise.all(Array.from({ length: connections }, () => open(url)));
  let answered = 0;
  let isOver = false;
  const faults: Error[] = [];
  const began = performance.now();
  for (const [place, socket] of sockets.entries()) {
    const request = requests[place % requests.length] ?? '';
    const read = createReader();
    socket.on('error', (error) => faults.push(error));
    socket.on('close', () => isOver || faults.push(new Error('a connection was closed')));
    socket.on('data', (chunk) => {
      const rejection = read(chunk, () => {
        answered++;
        if (!isOver) socket.write(request);
      });
      if (rejection !== undefined) faults.push(new Error(rejection));
    });
    socket.write(request);
  }
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const rate = (answered * 1000) / (performance.now() - began);
  isOver = true;
  // Lets requests in flight finish before it is the next contestant's turn.
  await new Promise((resolve) => setTimeout(resolve, 20));
  for (const socket of sockets) socket.destroy();
  if (faults[0]) throw faults[0];
  return rate;
}

function requestOf({ method = 'GET', headers = {}, body }: Shot, url: URL): Buffer {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const lines = Object.entries({ host: url.host, connection: 'keep-alive', ...headers, ...length });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return Buffer.from(`${method} ${url.pathname}${url.search} HTTP/1.1\r\n${head}\r\n${body ?? ''}`);
}

function open(url: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

/** Calls back for each complete answer. Returns the text of an answer that is not a 200. */
function createReader() {
  let rest: Buffer = Buffer.alloc(0);
  let usual = -1;
  return function read(chunk: Buffer, done: () => void): string | undefined {
    // Usually an answer arrives in one piece and is as long as the previous one.
    if (chunk.length === usual && rest.length === 0 && chunk.subarray(0, OK.length).equals(OK)) {
      done();
      return undefined;
    }
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const end = rest.indexOf(HEAD_END);
      if (end === -1) return undefined;
      const head = rest.subarray(0, end).toString('latin1');
      const length = end + HEAD_END.length + Number(/^content-length: (\d+)$/im.exec(head)?.[1]);
      if (!head.startsWith(OK.toString()) || Number.isNaN(length)) return rest.toString();
      if (rest.length < length) return undefined;
      usual = length;
      rest = rest.subarray(length);
      done();
    }
  };
}

async function byAutocannon(shot: Shot, connections: number, duration: number): Promise<number> {
  const { autocannon } = await import('../../test/support/services/autocannon.ts');
  const result = await autocannon({ ...shot, connections, duration });
  const refused = result.non2xx + result.errors;
  if (refused > 0) throw new Error(`${refused} requests were refused or lost`);
  return result.requests.total / result.duration;
}
