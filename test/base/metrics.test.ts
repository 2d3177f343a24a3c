import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createMetrics } from '../../src/base/metrics.ts';

describe('Metrics', () => {
  it('The metrics of the process are collected once for all servers in it, because collecting never stops', async () => {
    const [one, other] = [createMetrics(() => 1), createMetrics(() => 2)];
    const shared = ['nodejs_gc_duration_seconds', 'nodejs_eventloop_lag_seconds', 'process_cpu_seconds_total'];
    for (const name of shared) {
      assert.ok(one.registry.getSingleMetric(name), name);
      assert.equal(one.registry.getSingleMetric(name), other.registry.getSingleMetric(name), name);
    }
    assert.match(await one.registry.metrics(), /^atrium_revision_reads_total 1$/m);
    assert.match(await other.registry.metrics(), /^atrium_revision_reads_total 2$/m);
    assert.match(
      await one.registry.metrics(),
      /^atrium_build_info\{version="v0\.\d+\.\d+",api_version="v1\.27\.0"\} 1$/m,
    );
    for (const { registry } of [one, other]) assert.match(await registry.metrics(), /^process_cpu_seconds_total \d/m);
  });
});
