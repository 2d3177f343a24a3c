import { Counter, collectDefaultMetrics, Gauge, type Metric, Registry } from 'prom-client';
import { API_VERSION, RELEASE_VERSION } from './release.ts';
import { within } from './scheduling/within.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** The connections to the database, and how many calls wait for one. */
export interface Connections {
  readonly used: number;
  readonly idle: number;
  readonly max: number;
  readonly waiting: number;
}

/** A page that takes longer than the patience of Prometheus would not even say that the server is not ready. */
const ANSWER_WITHIN_MS = 2000;

/** What /metrics shows. Names follow OpenTelemetry's semantic conventions. */
export function createMetrics(reads: () => number) {
  const registry = new Registry();
  for (const metric of metricsOfProcess()) registry.registerMetric(metric);
  const requests = createDurations('http_server_request_duration_seconds', 'How long requests took.');
  registry.registerMetric(requests.metric);
  counter('atrium_revision_reads_total', 'How often the revision was read; many requests share one reading.', reads);
  new Gauge({
    name: 'atrium_build_info',
    help: 'Always 1; the labels are the version of the release and of its API.',
    labelNames: ['version', 'api_version'],
    registers: [registry],
  }).set({ version: RELEASE_VERSION, api_version: API_VERSION }, 1);
  const vaultFaults = new Counter({
    name: 'atrium_vault_faults_total',
    help: 'Sealed values that could not be opened: damaged, moved, or without their key.',
    registers: [registry],
  });
  return { registry, requests, vaultFaults, gauge, stored, counter, connections };

  /** A number that is read whenever /metrics is. */
  function gauge(name: string, help: string, read: () => number | Promise<number>): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        this.set(await read());
      },
    });
  }

  /** A number in the database, the same for all workers; -1 if there is none, or if the database does not answer. */
  function stored(name: string, help: string, read: () => Promise<number | undefined>): void {
    new Gauge({
      name,
      help,
      registers: [registry],
      aggregator: 'max',
      async collect() {
        this.set((await within(ANSWER_WITHIN_MS, read(), 'no answer').catch(() => undefined)) ?? -1);
      },
    });
  }

  /** A count that is kept elsewhere. */
  function counter(name: string, help: string, read: () => number): void {
    new Counter({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  function connections(read: () => Connections): void {
    new Gauge({
      name: 'db_client_connection_count',
      help: 'Connections to the database that are open, by state.',
      labelNames: ['state'],
      registers: [registry],
      collect() {
        const { used, idle } = read();
        this.set({ state: 'used' }, used);
        this.set({ state: 'idle' }, idle);
      },
    });
    gauge('db_client_connection_max', 'Maximum number of connections to the database.', () => read().max);
    const waiting = 'Calls that wait for a connection to the database.';
    gauge('db_client_connection_pending_requests', waiting, () => read().waiting);
  }
}

/** 1 if the server is ready, otherwise 0. */
export function countReady(ready: () => Promise<unknown>): Promise<number> {
  return ready().then(
    () => 1,
    () => 0,
  );
}

let ofProcess: Registry | undefined;

/** Collected once, however many servers there are in the process, because the library never stops collecting. */
function metricsOfProcess(): readonly Metric[] {
  if (ofProcess === undefined) {
    ofProcess = new Registry();
    collectDefaultMetrics({ register: ofProcess });
  }
  // The library returns the metrics themselves, but declares only their data.
  return ofProcess.getMetricsAsArray() as unknown as readonly Metric[];
}

const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The durations of the requests to one route. */
export interface RouteDurations {
  observe(method: string, status: number, seconds: number): void;
}

interface Series {
  readonly labels: Readonly<Record<string, string | number>>;
  /** How many requests fell between each bound and the one before; the last entry counts those above every bound. */
  readonly counts: number[];
  sum: number;
}

/** A histogram by method, route and status. The library's own sorts and joins its labels again for every request. */
function createDurations(name: string, help: string) {
  const all: Series[] = [];
  // The registry uses no more of a metric than this.
  const metric = {
    name,
    help,
    type: 'histogram',
    get: async () => ({ name, help, type: 'histogram', values: values(), aggregator: 'sum' }),
  };
  return { of, metric: metric as unknown as Metric };

  function of(route: string): RouteDurations {
    const byMethod = new Map<string, Map<number, Series>>();
    return {
      observe(method, status, seconds) {
        const series = byMethod.get(method)?.get(status) ?? begin(method, status);
        let place = 0;
        while (place < BOUNDS.length && seconds > (BOUNDS[place] ?? 0)) place += 1;
        series.counts[place] = (series.counts[place] ?? 0) + 1;
        series.sum += seconds;
      },
    };

    function begin(method: string, status: number): Series {
      const labels = { http_request_method: method, http_route: route, http_response_status_code: status };
      const series = { labels, counts: [...BOUNDS, 0].fill(0), sum: 0 };
      byMethod.set(method, (byMethod.get(method) ?? new Map()).set(status, series));
      all.push(series);
      return series;
    }
  }

  function values(): object[] {
    return all.flatMap(({ labels, counts, sum }) => {
      let count = 0;
      const buckets = counts.map((more, place) => {
        count += more;
        return { metricName: `${name}_bucket`, labels: { le: BOUNDS[place] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }
}
