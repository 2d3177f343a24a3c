import { createBucketThread, ThreadEnded, type ThreadOptions } from './bucket-thread.client.ts';
import { type BucketLister, CloudRefusal } from './buckets.ts';

type Listing = Parameters<BucketLister['list']>;

const FAILED = 'the service sent something that cannot be processed';

/**
 * Calls storage services in a thread of its own. Loading an SDK takes up to two seconds, and parsing a response or
 * signing with a key is synchronous: in the thread of the server, everybody would have to wait.
 *
 * Whatever a service makes an SDK do, at worst the thread ends, and the next listing starts a new one. If the thread had
 * several listings under way, nobody knows which of them ended it. So each is tried again in a second thread, one after
 * the other: only the one that ends its thread once more fails, and new listings do not meet it.
 */
export function createBucketLister(
  allowedNetworks: readonly string[],
  report: (problem: string) => void = () => undefined,
  file?: ThreadOptions['file'],
): BucketLister & { close(): Promise<void> } {
  const options = { allowedNetworks, report, ...(file && { file }) };
  const shared = createBucketThread(options);
  const single = createBucketThread(options);
  let last: Promise<unknown> = Promise.resolve();
  return { list, close };

  async function list(...listing: Listing): Promise<string[]> {
    try {
      return await shared.list(...listing);
    } catch (error) {
      if (!(error instanceof ThreadEnded)) throw error;
      if (error.listings === 1) throw new CloudRefusal(FAILED);
      return await listAlone(listing);
    }
  }

  /** After all others that wait for it. A caller who no longer waits is refused at once. */
  async function listAlone(listing: Listing): Promise<string[]> {
    const mine = last.then(() => single.list(...listing));
    last = mine.catch(() => undefined);
    try {
      return await mine;
    } catch (error) {
      throw error instanceof ThreadEnded ? new CloudRefusal(FAILED) : error;
    }
  }

  async function close(): Promise<void> {
    await Promise.all([shared.close(), single.close()]);
  }
}
