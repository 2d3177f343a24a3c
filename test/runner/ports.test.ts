import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { freePort, portsOutside } from '../support/services/ports.ts';

describe('Free ports for tests', () => {
  it('A free port is none that the system gives to a connection', { skip: process.platform !== 'linux' }, async () => {
    const [low = 0, high = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split(/\s+/).map(Number);
    const port = await freePort();
    assert.ok(port < low || port > high || portsOutside([low, high])[0] === 0, `${port} is in ${low} to ${high}`);
  });

  it('The system chooses the port if nearly all ports are for connections', () => {
    assert.deepEqual(portsOutside([1024, 65_535]), [0]);
    assert.ok(portsOutside([32_768, 60_999]).every((port) => port < 32_768 || port > 60_999));
  });
});
