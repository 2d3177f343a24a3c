import type { Instance } from '../../instance.ts';
import { createCommonAllowances } from './common-allowance.ts';
import { createRemoteBrake } from './common-brake.ts';
import type { SupervisorMessage, WorkerMessage, WorkerQuery } from './messages.ts';

export type WorkerLink = ReturnType<typeof connectWorker>;

interface Duties {
  readonly leave: (isReplaced: boolean) => void;
  readonly close: (patienceMs: number | undefined) => void;
}

/** The end of a worker's connection to its supervisor. The worker ends with that connection: Node sees to it. */
export function connectWorker({ leave, close }: Duties) {
  const { brake, permitted, rejected } = createRemoteBrake(send);
  const allowances = createCommonAllowances(send);
  let instance: Instance | undefined;
  process.on('message', (order: SupervisorMessage) => {
    if (order.kind === 'leave') leave(order.isReplaced);
    else if (order.kind === 'close') close(order.patienceMs);
    else if (order.kind === 'ask') void answer(order.id, order.what);
    else if (order.kind === 'permitted') permitted(order.id);
    else if (order.kind === 'rejected') rejected(order.id, order.retryAfter);
    else if (order.kind === 'used') allowances.hear(order);
  });

  return {
    number: Number(process.env.ATRIUM_WORKER ?? 1),
    common: { brake, share: allowances.share },
    /** From now on the supervisor counts this worker in. */
    serve(opened: Instance, address: string): void {
      instance = opened;
      send({ kind: 'serving', address, listenerPort: opened.listenerPort() });
    },
    /** Resolves when the last message is on its way, so that the process may end. */
    async finish(): Promise<void> {
      allowances.tell();
      const readings = (await instance?.metrics.registry.getMetricsAsJSON()) ?? [];
      const notice: WorkerMessage = { kind: 'leaving', readings };
      await new Promise<void>((resolve) => (process.connected ? process.send?.(notice, () => resolve()) : resolve()));
    },
  };

  async function answer(id: number, what: WorkerQuery): Promise<void> {
    try {
      if (what === 'ready') await instance?.ready();
      const readings = what === 'metrics' ? await instance?.metrics.registry.getMetricsAsJSON() : undefined;
      send({ kind: 'answer', id, ...(readings && { readings }) });
    } catch (error) {
      send({ kind: 'answer', id, failed: (error as Error).message });
    }
  }
}

function send(notice: WorkerMessage): void {
  // A supervisor that is gone takes this process with it.
  if (process.connected) process.send?.(notice, undefined, undefined, () => undefined);
}
