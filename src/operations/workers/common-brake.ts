import { AppError } from '../../base/errors.ts';
import { type Brake, createBrake } from '../../http/limits/brake.ts';
import { isWrongCredential, tooMany } from '../../http/limits/name-pace.ts';
import type { Attempt, SupervisorMessage, WorkerMessage } from './messages.ts';

/**
 * Guesses are counted in one place, exactly as in a server of one process: a worker asks before each attempt and
 * reports how it ended. Otherwise a server of ten workers would allow ten times as many guesses.
 */
export function createBrakeKeeper(passwordFailures: number) {
  const brake = createBrake(passwordFailures);
  const running = new Map<string, { resolve(): void; reject(error: Error): void }>();

  return { begin, finish, forget };

  async function begin(
    worker: number,
    { id, address, login }: Attempt,
    send: (order: SupervisorMessage) => void,
  ): Promise<void> {
    const key = `${worker} ${id}`;
    const attempt = () =>
      new Promise<void>((resolve, reject) => {
        running.set(key, { resolve, reject });
        send({ kind: 'permitted', id });
      });
    try {
      await (login === undefined ? brake.token(address, attempt) : brake.password(login, address, attempt));
    } catch (error) {
      if (isWrongCredential(error)) return;
      const { retryAfter = 1 } = error instanceof AppError ? error.detail : {};
      send({ kind: 'rejected', id, retryAfter });
    }
  }

  function finish(worker: number, id: number, isWrong: boolean): void {
    const key = `${worker} ${id}`;
    const attempt = running.get(key);
    running.delete(key);
    if (isWrong) attempt?.reject(new AppError('unauthenticated', 'wrong credential'));
    else attempt?.resolve();
  }

  /** How the attempts of a worker that died would have ended is unknown. */
  function forget(worker: number): void {
    for (const key of [...running.keys()]) {
      const [owner = '', id = ''] = key.split(' ');
      if (Number(owner) === worker) finish(worker, Number(id), false);
    }
  }
}

/** The brake of a worker. */
export function createRemoteBrake(send: (notice: WorkerMessage) => void) {
  const waiting = new Map<number, { permit(): void; reject(error: Error): void }>();
  let last = 0;

  const brake: Brake = {
    password: (login, address, attempt) => asking({ address, login }, attempt),
    token: (address, attempt) => asking({ address }, attempt),
  };
  return { brake, permitted, rejected };

  async function asking<T>(what: Pick<Attempt, 'address' | 'login'>, attempt: () => Promise<T>): Promise<T> {
    const id = ++last;
    await new Promise<void>((permit, reject) => {
      waiting.set(id, { permit, reject });
      send({ kind: 'attempt', id, ...what });
    });
    let isWrong = false;
    try {
      return await attempt();
    } catch (error) {
      isWrong = isWrongCredential(error);
      throw error;
    } finally {
      send({ kind: 'attempted', id, isWrong });
    }
  }

  function permitted(id: number): void {
    waiting.get(id)?.permit();
    waiting.delete(id);
  }

  function rejected(id: number, retryAfter: number): void {
    waiting.get(id)?.reject(tooMany(retryAfter));
    waiting.delete(id);
  }
}
