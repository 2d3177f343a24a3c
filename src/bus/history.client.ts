import type { JetStreamManager, StreamInfo } from '@nats-io/jetstream';
import { AppError } from '../base/errors.ts';
import { within } from '../base/scheduling/within.ts';
import { type BusConnection, busUnavailable } from './connection.client.ts';
import type { HistoryStream, Report } from './history.ts';

export const STREAM = 'HISTORY';
const SUBJECTS = 'history.>';
const ANSWER_WITHIN_MS = 1500;
/** For all answers to one request together. */
const PATIENCE_MS = 8000;
const YEAR_NS = 365 * 86_400 * 1_000_000_000;
const KEPT_PER_RESOURCE = 64;
const REPORT_BYTES = 8192;

/** A stream survives the loss of a server if most of its copies remain, so two would be no better than one. */
const COPIES = 3;

/** The stream of this deployment on the bus: the last reports on each resource, for a year. */
export function createHistoryStream(link: BusConnection, servers: number): HistoryStream & { ensure(): Promise<void> } {
  const copies = servers >= COPIES ? COPIES : 1;
  return { ensure, subjects, reports };

  /** Reports of clusters are lost until the stream exists. */
  async function ensure(): Promise<void> {
    await asking(async (manager) => {
      const { config } = await infoOf(manager, undefined, copies);
      // The bus was one server before, or becomes one.
      if (config.num_replicas !== copies) await manager.streams.update(STREAM, { num_replicas: copies });
    });
  }

  async function subjects(filter: string): Promise<ReadonlyMap<string, number>> {
    const info = await asking((manager) => infoOf(manager, filter, copies));
    return new Map(Object.entries(info.state.subjects ?? {}));
  }

  async function reports(subject: string): Promise<readonly Report[]> {
    return await asking(async (manager) => {
      const found: Report[] = [];
      for (let seq = 1; found.length < KEPT_PER_RESOURCE; ) {
        const message = await manager.direct.getMessage(STREAM, { seq, next_by_subj: subject });
        if (message === null) break;
        found.push({ text: message.string(), at: message.time });
        seq = message.seq + 1;
      }
      return found;
    });
  }

  async function asking<T>(work: (manager: JetStreamManager) => Promise<T>): Promise<T> {
    const connection = await link.get();
    try {
      const { jetstreamManager } = await import('@nats-io/jetstream');
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: ANSWER_WITHIN_MS });
      return await within(PATIENCE_MS, work(manager), `no answer within ${PATIENCE_MS / 1000} s`);
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw busUnavailable('the message bus does not answer', cause);
    }
  }
}

async function infoOf(manager: JetStreamManager, filter: string | undefined, copies: number): Promise<StreamInfo> {
  try {
    return await manager.streams.info(STREAM, filter === undefined ? {} : { subjects_filter: filter });
  } catch (error) {
    const { JetStreamApiCodes, JetStreamApiError } = await import('@nats-io/jetstream');
    if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
  }
  return await manager.streams.add({
    name: STREAM,
    description: 'What clusters report about their resources.',
    subjects: [SUBJECTS],
    max_msgs_per_subject: KEPT_PER_RESOURCE,
    max_msg_size: REPORT_BYTES,
    max_age: YEAR_NS,
    allow_direct: true,
    num_replicas: copies,
  });
}
