import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Registry } from 'prom-client';
import { createSpanExporter } from '../../../src/base/tracing/span-exporter.client.ts';
import type { Span } from '../../../src/base/tracing/trace.ts';
import { until } from '../../support/checks/until.ts';
import { openTestServer, type TestServer } from '../../support/server/server.ts';
import { sharedServer } from '../../support/server/shared-server.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SAMPLED = { traceparent: `00-${TRACE}-${CALLER}-01` };

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
}

/** A collector that keeps what it gets, and the central server of the marketplace. */
class Collector {
  readonly spans: OtlpSpan[] = [];
  readonly headers: IncomingHttpHeaders[] = [];
  readonly asked: IncomingHttpHeaders[] = [];
  readonly services: unknown[] = [];
  status = 200;
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces') {
        this.asked.push(request.headers);
        response.setHeader('Content-Type', 'application/json');
        return void response.end('{"claimable":true,"claimed":false}');
      }
      this.headers.push(request.headers);
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { resource, scopeSpans } of resourceSpans) {
        this.services.push(resource.attributes[0]);
        if (this.status === 200) this.spans.push(...scopeSpans.flatMap((one: { spans: OtlpSpan[] }) => one.spans));
      }
      response.statusCode = this.status;
      response.end('{}');
    });
  });
  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }
  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

describe('Traces', () => {
  const collector = new Collector();
  let server: TestServer;
  before(async () => {
    const url = await collector.open();
    server = await openTestServer({
      driver: 'pglite',
      env: {
        DEPLOYMENT: 'marketplace',
        RUN_MODE: 'dev',
        CENTRAL_MARKETPLACE_URL: url,
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=abc',
        OTEL_SERVICE_NAME: 'atrium-test',
        OTEL_TRACES_SAMPLER_ARG: '0',
      },
    });
    // Closing sends what is left, so the tests share what one server has sent.
    const ann = server.as('ann');
    assert.equal((await ann('GET', '/user', undefined, SAMPLED)).status, 200);
    assert.equal((await ann('GET', '/user', undefined, { traceparent: `00-${TRACE}-${CALLER}-00` })).status, 200);
    assert.equal((await ann('GET', '/user')).status, 200);
    assert.equal((await ann('POST', '/orgs', { username: 'traced' }, SAMPLED)).status, 201);
    assert.equal((await ann('GET', '/nothing', undefined, SAMPLED)).status, 404);
    const claim = '/marketplace/api/v1/marketplaces/standalone-organizations/org-1/claimable';
    await server.call('GET', claim, undefined, SAMPLED);
    await server.close();
  });
  after(() => collector.close());

  const requests = () => collector.spans.filter(({ kind }) => kind === 2);
  const named = (name: string) => requests().filter((span) => span.name === name);

  it('A request is a span of the trace of its caller, with the pattern of its route and no secret', () => {
    const [span] = named('GET /api/v1/user');
    assert.deepEqual([span?.traceId, span?.parentSpanId], [TRACE, CALLER]);
    const attributes = Object.fromEntries(
      (span?.attributes ?? []).map(({ key, value }) => [key, value.stringValue ?? value.intValue]),
    );
    assert.equal(attributes['http.route'], '/api/v1/user');
    assert.equal(attributes['http.response.status_code'], '200');
    assert.ok(BigInt(span?.endTimeUnixNano ?? 0) >= BigInt(span?.startTimeUnixNano ?? 1));
    assert.ok(!JSON.stringify(collector.spans).includes(server.world.users.ann?.token?.slice(4) ?? '?'));
    assert.deepEqual(collector.services[0], { key: 'service.name', value: { stringValue: 'atrium-test' } });
    assert.equal(collector.headers[0]?.['x-key'], 'abc');
  });

  it('A request is a span only if its caller or the ratio says so', () => {
    assert.equal(named('GET /api/v1/user').length, 1);
  });

  it('The statements of a request are spans below it, and those of a transaction below the transaction', () => {
    const [request] = named('POST /api/v1/orgs');
    const transaction = collector.spans.find(
      ({ name, parentSpanId }) => name === 'transaction' && parentSpanId === request?.spanId,
    );
    assert.ok(transaction, JSON.stringify(collector.spans.map(({ name }) => name)));
    assert.ok(collector.spans.some(({ parentSpanId }) => parentSpanId === transaction.spanId));
    assert.ok(collector.spans.every(({ traceId }) => traceId === TRACE));
  });

  it('A path that does not exist is a span without its path', () => {
    assert.equal(named('GET unknown').length, 1);
    assert.ok(!JSON.stringify(collector.spans).includes('nothing'));
  });

  it('The trace goes on in the requests that the server sends', () => {
    const [header] = collector.asked.map(({ traceparent }) => String(traceparent));
    const call = collector.spans.find(({ name }) => name === 'GET claim rules');
    assert.equal(header, `00-${TRACE}-${call?.spanId}-01`);
  });

  it('The log names the trace of a request', () => {
    const lines = server
      .logged()
      .split('\n')
      .filter((line) => line.includes('"status":404'));
    assert.ok(lines.length > 0 && lines.every((line) => line.includes(`"trace_id":"${TRACE}"`)));
  });

  it('Without a collector the log names the trace all the same, and nothing is counted', async () => {
    const quiet = await sharedServer();
    await quiet.as('ann')('GET', '/nothing-else', undefined, SAMPLED);
    await until(() => quiet.logged().includes(`"trace_id":"${TRACE}"`));
    assert.ok(!(await quiet.instance.metrics.registry.metrics()).includes('atrium_spans'));
  });
});

describe('The exporter of spans', () => {
  const span: Span = {
    context: { traceId: TRACE, spanId: CALLER, isSampled: true },
    ...{ parentId: undefined, kind: 'server', name: 'GET /', attributes: {}, hasFailed: true, startMs: 1, endMs: 2 },
  };
  const openExporter = (endpoint: string) => {
    const registry = new Registry();
    const failures: unknown[] = [];
    const exporter = createSpanExporter({
      ...{ endpoint, registry, headers: {}, serviceName: 'atrium', version: '1', everyMs: 1_000_000 },
      onFailure: (error) => failures.push(error),
    });
    const count = async (line: string) => {
      const text = (await registry.metrics()).split('\n').find((one) => one.startsWith(line));
      return text === undefined ? 0 : Number(text.split(' ').at(-1));
    };
    return { exporter, failures, count };
  };

  it('A collector that fails costs nothing but its spans, which are counted, and one line in the log', async () => {
    const collector = new Collector();
    const { exporter, failures, count } = openExporter(await collector.open());
    collector.status = 503;
    for (let round = 0; round < 3; round++) {
      exporter.add(span);
      await exporter.flush();
    }
    assert.equal(failures.length, 1);
    assert.equal(await count('atrium_spans_dropped_total{reason="export_failed"}'), 3);
    collector.status = 200;
    exporter.add(span);
    await exporter.flush();
    assert.deepEqual([await count('atrium_spans_sent_total'), collector.spans.length], [1, 1]);
    collector.close();
    exporter.add(span);
    await exporter.close();
    assert.equal(await count('atrium_spans_dropped_total{reason="export_failed"}'), 4);
    assert.equal(failures.length, 2, 'the second outage is reported too');
  });

  it('The queue is bounded, and what does not fit is counted', async () => {
    const collector = new Collector();
    const { exporter, count } = openExporter(await collector.open());
    // The first batch is under way until this test waits for something.
    for (let index = 0; index < 4000; index++) exporter.add(span);
    await exporter.close();
    const dropped = await count('atrium_spans_dropped_total{reason="queue_full"}');
    assert.equal(dropped, 4000 - 2048 - 512);
    assert.equal(collector.spans.length, 2048 + 512);
    collector.close();
  });
});
