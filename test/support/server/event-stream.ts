import { type ClientRequest, type IncomingMessage, request } from 'node:http';

export interface ReceivedEvent {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of an event by asserting it.
  readonly data: any;
}

/** A reader of server-sent events that knows nothing of our client. */
export interface EventReader {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  /** Everything so far. */
  readonly events: readonly ReceivedEvent[];
  readonly comments: () => number;
  /** The ID that a browser would send when it connects again. */
  readonly lastEventId: () => string | undefined;
  /** Waits for the first event that fits, among those so far and those to come. */
  find(fits: (event: ReceivedEvent) => boolean, what?: string): Promise<ReceivedEvent>;
  readonly ended: Promise<void>;
  readonly text: () => string;
  close(): void;
}

const PATIENCE_MS = 20_000;

export function readEvents(
  url: string,
  token: string | undefined,
  { path = '/api/v1/events', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<EventReader> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(
      `${url}${path}`,
      { agent: false, headers: { ...(token && { Authorization: `token ${token}` }), ...headers } },
      (response) => resolve(readerOf(outgoing, response)),
    );
    outgoing.once('error', reject);
    outgoing.end();
  });
}

function readerOf(outgoing: ClientRequest, response: IncomingMessage): EventReader {
  const events: ReceivedEvent[] = [];
  const waiting = new Set<() => void>();
  let text = '';
  let rest = '';
  let comments = 0;
  let last: string | undefined;
  let isOver = false;
  const wake = () => {
    for (const one of [...waiting]) one();
  };
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) read(block);
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    const over = () => {
      isOver = true;
      wake();
      resolve();
    };
    response.once('end', over).once('error', over).once('close', over);
  });
  outgoing.on('error', () => undefined);

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    comments: () => comments,
    lastEventId: () => last,
    find,
    ended,
    text: () => text,
    close: () => outgoing.destroy(),
  };

  function read(block: string): void {
    const fields = new Map<string, string>();
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) comments++;
      const [, name, value] = /^(\w+): (.*)$/.exec(line) ?? [];
      if (name !== undefined) fields.set(name, value ?? '');
    }
    const id = fields.get('id');
    if (id !== undefined) last = id;
    const data = fields.get('data');
    if (data !== undefined) events.push({ event: fields.get('event') ?? 'message', id, data: JSON.parse(data) });
  }

  function find(fits: (event: ReceivedEvent) => boolean, what = 'an event'): Promise<ReceivedEvent> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => done(undefined), PATIENCE_MS);
      const look = () => {
        const found = events.find(fits);
        if (found || isOver) done(found);
      };
      const done = (found: ReceivedEvent | undefined) => {
        clearTimeout(timer);
        waiting.delete(look);
        if (found) resolve(found);
        else reject(new Error(`${what} did not arrive, but: ${text}`));
      };
      waiting.add(look);
      look();
    });
  }
}
