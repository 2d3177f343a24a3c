import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { countReady } from '../../base/metrics.ts';
import type { Readings } from './messages.ts';

/** How gauges of several processes become one number, where the library's choice would hide something. */
const JOINED: Readonly<Record<string, 'min' | 'max'>> = {
  atrium_build_info: 'max',
  atrium_ready: 'min',
  process_start_time_seconds: 'min',
  process_max_fds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
};

export type JointMetrics = ReturnType<typeof createJointMetrics>;

/**
 * The metrics of all workers as one page. Counters and histograms are added up and never go down: what a worker counted
 * stays in the sum after its end, because monitoring takes a smaller number for a restart and counts everything again.
 * Gauges are those of the processes that run.
 */
export function createJointMetrics(serving: () => number, ready: () => Promise<unknown>) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'atrium_workers',
    help: 'Workers that serve requests.',
    registers: [registry],
    collect() {
      this.set(serving());
    },
  });
  new Gauge({
    name: 'atrium_ready',
    help: 'Whether /readyz is green: 1 or 0.',
    registers: [registry],
    async collect() {
      this.set(await countReady(ready));
    },
  });
  const deaths = new Counter({
    name: 'atrium_worker_deaths_total',
    help: 'Workers that ended without being asked to.',
    registers: [registry],
  });
  let ended: Readings = [];

  return { deaths, keep, page };

  /** Of a worker that has ended: its last readings. */
  function keep(readings: Readings): void {
    const counted = readings.filter(({ type }) => isCount(type));
    // The joined metrics have their values with them.
    ended = join([ended, counted]).getMetricsAsArray() as unknown as Readings;
  }

  /** `workers` names the running ones synchronously, so that no worker is counted as running and as ended. */
  async function page(workers: () => readonly Promise<Readings>[]): Promise<{ type: string; text: string }> {
    const past = ended;
    const present = await Promise.all([registry.getMetricsAsJSON(), ...workers()]);
    return { type: Registry.PROMETHEUS_CONTENT_TYPE, text: await join([...present, past]).metrics() };
  }
}

/** The library says "counter", although its types say a number. */
function isCount(type: unknown): boolean {
  return type === 'counter' || type === 'histogram';
}

function join(all: readonly Readings[]): Registry {
  const prepared = all.map((readings) =>
    readings.map((one) => ({ ...one, aggregator: JOINED[one.name] ?? one.aggregator ?? 'sum' })),
  );
  return AggregatorRegistry.aggregate(prepared) as Registry;
}
