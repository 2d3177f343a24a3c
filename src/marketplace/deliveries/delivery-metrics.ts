import { Counter, Gauge } from 'prom-client';
import type { Metrics } from '../../base/metrics.ts';
import { within } from '../../base/scheduling/within.ts';

/** A page that takes longer than the patience of Prometheus would not even say that the server is not ready. */
const ANSWER_WITHIN_MS = 2000;

/** How many deliveries are unfinished, and when each marketplace last sent one. */
export interface DeliveryDepth {
  readonly undone: number;
  readonly dead: number;
  readonly oldestSeconds: number;
  readonly last: readonly { readonly marketplace: string; readonly at: number }[];
}

interface Sources {
  readonly depth: () => Promise<DeliveryDepth>;
  readonly rangesAge: () => number | undefined;
}

/** Metrics of the listener. If the database is unavailable, the gauges go stale, but the page still renders. */
export function createDeliveryMetrics({ registry }: Pick<Metrics, 'registry'>, { depth, rangesAge }: Sources) {
  const registers = [registry];
  const deliveries = new Counter({
    name: 'atrium_marketplace_deliveries_total',
    help: 'Deliveries by what became of them, refusals by their reason.',
    labelNames: ['marketplace', 'reason'],
    registers,
  });
  const unkept = new Counter({
    name: 'atrium_marketplace_rejections_not_kept_total',
    help: 'Rejected deliveries that were only counted, because there were too many to keep.',
    labelNames: ['marketplace'],
    registers,
  });
  let question: Promise<DeliveryDepth | undefined> | undefined;
  gauge('inbox_depth', 'Deliveries that are recorded and not yet acted on.', (now, one) => one.set(now.undone));
  gauge('inbox_dead', 'Deliveries that were given up after many tries.', (now, one) => one.set(now.dead));
  gauge('inbox_oldest_seconds', 'Age of the oldest delivery that is not yet acted on.', (now, one) =>
    one.set(now.oldestSeconds),
  );
  gauge('last_delivery_timestamp_seconds', 'When each marketplace was last heard of.', (now, one) => {
    for (const { marketplace, at } of now.last) one.set({ marketplace }, at);
  });
  new Gauge({
    name: 'atrium_marketplace_ranges_age_seconds',
    help: 'Seconds since the list of address ranges was last confirmed; -1: there is none.',
    registers,
    aggregator: 'max',
    collect() {
      this.set(rangesAge() ?? -1);
    },
  });
  return {
    observe: (marketplace: string, reason: string) => deliveries.inc({ marketplace, reason }),
    countUnkept: (marketplace: string) => unkept.inc({ marketplace }),
  };

  function gauge(name: string, help: string, show: (now: DeliveryDepth, one: Gauge<'marketplace'>) => void): void {
    new Gauge({
      name: `atrium_marketplace_${name}`,
      help,
      labelNames: ['marketplace'],
      registers,
      // All workers read the same rows.
      aggregator: 'max',
      async collect() {
        const now = await ask();
        if (now) show(now, this);
      },
    });
  }

  /** All gauges of one page share one read of the database. */
  function ask(): Promise<DeliveryDepth | undefined> {
    question ??= within(ANSWER_WITHIN_MS, depth(), 'no answer')
      .catch(() => undefined)
      .finally(() => {
        question = undefined;
      });
    return question;
  }
}
