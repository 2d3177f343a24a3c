/** An event of the browser, as far as tests look at it. */
export interface BidiEvent {
  readonly method: string;
  readonly params: {
    readonly context?: string;
    readonly source?: { readonly context?: string };
    readonly request?: { readonly request: string; readonly url: string };
    readonly level?: string;
    readonly text?: string;
    readonly data?: { readonly value?: unknown };
  };
}

export interface Bidi {
  /** Sends a command and resolves to its result. */
  send<Result = unknown>(method: string, params?: object): Promise<Result>;
  listen(hear: (event: BidiEvent) => void): void;
}

interface Message extends Partial<BidiEvent> {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: string;
  readonly message?: string;
}

/** WebDriver BiDi: commands and events as JSON over a WebSocket. */
export async function openBidi(address: string): Promise<Bidi> {
  const socket = new WebSocket(address);
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (error: Error) => void }>();
  const listeners: ((event: BidiEvent) => void)[] = [];
  let counter = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, message, method, params } = JSON.parse(String(data)) as Message;
    const one = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    if (method !== undefined && params !== undefined) for (const hear of listeners) hear({ method, params });
    else if (error === undefined) one?.resolve(result);
    else one?.reject(new Error(`${error}: ${message}`));
  });
  let isOver = false;
  socket.addEventListener('close', () => {
    isOver = true;
    for (const { reject } of waiting.values()) reject(new Error('the browser has ended'));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error(`no connection to ${address}`)));
  });
  return {
    send: <Result>(method: string, params: object = {}) =>
      new Promise<Result>((resolve, reject) => {
        if (isOver) return reject(new Error('the browser has ended'));
        counter += 1;
        waiting.set(counter, { resolve: resolve as (result: unknown) => void, reject });
        socket.send(JSON.stringify({ id: counter, method, params }));
      }),
    listen: (hear) => void listeners.push(hear),
  };
}
