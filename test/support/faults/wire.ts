import { connect, createServer, type Socket } from 'node:net';
import { until } from '../checks/until.ts';

/** A proxy between a server and its database that can fail in every way in which a network does. */
export interface Wire {
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): Promise<void>;
  mend(): Promise<void>;
  /** Ends all connections. Further ones lead to another server. */
  leadTo(next: URL): void;
  /** Nothing passes any more, in either direction. Connections stay open and are even accepted. */
  freeze(): void;
  thaw(): void;
  /** Everything takes this much longer, in each direction. */
  slowDown(ms: number): void;
  /** From now on, what a client sends is held back for good once it contains these words. */
  holdBack(words: string): void;
  /**
   * What a client sends arrives up to these words, and nothing after them, for the next connection that sends them. The
   * connection stays open, and the proxy keeps accepting what is sent.
   */
  fallSilentAt(words: string): void;
  /** How many connections fell silent in this way. */
  readonly silent: number;
  /** The next message with these words arrives, but its answer is lost together with the connection. */
  loseAnswerTo(words: string): void;
}

export async function openWire(first: URL): Promise<Wire> {
  const sockets = new Set<Socket>();
  let target = first;
  let isFrozen = false;
  let delayMs = 0;
  let held: string | undefined;
  let lost: string | undefined;
  let last: string | undefined;
  let silent = 0;

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    let isHeld = false;
    let losesAnswer = false;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    const pass = (from: Socket, to: Socket, isStopped: (chunk: Buffer) => boolean) => {
      // In order, however long a chunk has to wait.
      let last = Promise.resolve();
      const wait = async () => {
        if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
        if (isFrozen) await until(() => !isFrozen || to.destroyed);
      };
      from.on('data', (chunk: Buffer) => {
        const arrived = delayMs === 0 && !isFrozen ? undefined : wait();
        last = last.then(() => arrived).then(() => void (to.writable && !isStopped(chunk) && to.write(chunk)));
      });
      from.on('end', () => void last.then(() => to.end()));
      from.on('close', () => void last.then(() => to.destroy()));
    };
    pass(near, far, (chunk) => {
      const place = last === undefined || isHeld ? -1 : chunk.indexOf(last);
      if (place >= 0) {
        far.write(chunk.subarray(0, place));
        last = undefined;
        isHeld = true;
        silent += 1;
      }
      isHeld ||= held !== undefined && chunk.includes(held);
      if (!isHeld && lost !== undefined && chunk.includes(lost)) {
        losesAnswer = true;
        lost = undefined;
      }
      return isHeld;
    });
    pass(far, near, () => {
      if (losesAnswer) near.destroy();
      return losesAnswer;
    });
  });

  const port = await listen(server, 0);
  const url = new URL(first);
  url.port = String(port);
  return {
    url: url.href,
    mend: async () => void (await listen(server, port)),
    cut: () =>
      new Promise((resolve) => {
        isFrozen = false;
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
    leadTo(next) {
      target = next;
      for (const socket of sockets) socket.destroy();
    },
    freeze() {
      isFrozen = true;
    },
    thaw() {
      isFrozen = false;
    },
    slowDown(ms) {
      delayMs = ms;
    },
    holdBack(words) {
      held = words;
    },
    fallSilentAt(words) {
      last = words;
    },
    get silent() {
      return silent;
    },
    loseAnswerTo(words) {
      lost = words;
    },
  };
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}
