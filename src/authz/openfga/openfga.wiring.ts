import { admit, type Model } from '../../../packages/rebac/src/rebac.ts';
import { PLATFORM } from '../../changes/write.ts';
import type { Infrastructure } from '../../infrastructure.ts';
import type { Graphs } from '../graphs.ts';
import { createOpenFga } from './openfga.client.ts';
import { createOpenFgaJudge } from './openfga-judge.ts';
import { openFgaFailed, storeModel } from './openfga-server.ts';
import { createPublicationStore } from './publication.store.ts';
import { createPublisher, type Verified } from './publisher.ts';

/** What was written while no question came is published by then. */
const TICK_MS = 1000;

export type OpenFga = ReturnType<typeof wireOpenFga>;

/** An OpenFGA server as the judge. */
export function wireOpenFga(
  { config, db, log }: Pick<Infrastructure, 'config' | 'db' | 'log'>,
  url: string,
  model: Model,
  graphs: Pick<Graphs, 'of'>,
) {
  const { json, hash } = storeModel(model.json);
  const server = createOpenFga({ url, token: config.OPENFGA_API_TOKEN, model: json });
  const store = createPublicationStore(db, hash, (tuple) => typeof admit(model, tuple) !== 'string');
  const publisher = createPublisher(server, store, (message) => log.warn(message));
  let timer: NodeJS.Timeout | undefined;
  let ticking: Promise<void> | undefined;
  let hasFailed = false;
  return {
    judge: createOpenFgaJudge({ server, store, publisher, model, graphs }),
    ready,
    sync,
    start,
    close,
  };

  /** Throws if no question could be answered at the moment. */
  async function ready(): Promise<void> {
    const moment = await store.moment({ accountIds: [PLATFORM] });
    if (moment === undefined || moment.published < 0n) throw openFgaFailed('its store is being filled');
    const fence = await server.fence(moment);
    const later = await store.moment({ accountIds: [] });
    const known = [moment.fence, moment.nextFence, later?.fence, later?.nextFence];
    if (fence === undefined || !known.includes(fence)) throw openFgaFailed('its store is not as it was left');
  }

  /** Compares all rows with what was published; with `isThorough`, also with what the store contains. */
  async function sync(isThorough: boolean): Promise<{ changes: number; verified: Verified | undefined }> {
    const { changes } = await publisher.compareAll();
    return { changes, verified: isThorough ? await publisher.verify() : undefined };
  }

  function start(): void {
    timer = setInterval(() => {
      ticking ??= tick().finally(() => {
        ticking = undefined;
      });
    }, TICK_MS).unref();
  }

  async function tick(): Promise<void> {
    try {
      const moment = await store.moment({ accountIds: [] });
      if (moment === undefined || moment.published < moment.latest) await publisher.publish();
      if (hasFailed) log.info('OpenFGA is up to date again');
      hasFailed = false;
    } catch (error) {
      if (!hasFailed) log.warn({ err: error }, 'changes could not be published to OpenFGA; retrying');
      hasFailed = true;
    }
  }

  async function close(): Promise<void> {
    clearInterval(timer);
    await ticking;
  }
}
