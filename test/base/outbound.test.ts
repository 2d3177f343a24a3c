import assert from 'node:assert/strict';
import { get } from 'node:http';
import { describe, it } from 'node:test';
import { createAddressGuard, createGuardedAgents, ForbiddenAddress } from '../../src/base/outbound/guarded-agents.ts';
import { serve } from '../support/services/clouds.ts';

const CLOSED = [
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '100.100.100.200', '127.0.0.1', '127.255.255.255', '168.63.129.16'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.192', '192.168.1.1', '198.18.0.1', '203.0.113.9'],
  ...['224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:10.0.0.1'],
  ...['::FFFF:7F00:1', '0:0:0:0:0:ffff:169.254.169.254', '64:ff9b::7f00:1', '64:ff9b:1::1', 'fe80::1', 'fe80::1%eth0'],
  ...['fec0::1', 'fd00:ec2::254', 'fc00::1', 'ff02::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1'],
  ...['nonsense', '', '127.1'],
];
const OPEN = ['1.1.1.1', '8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8', '2a00:1450::1'];

describe('Outbound addresses', () => {
  const isAllowed = createAddressGuard([]);
  for (const address of CLOSED)
    it(`${address ? `Address ${address}` : 'An empty address'} is blocked`, () =>
      assert.equal(isAllowed(address), false));
  for (const address of OPEN) it(`Address ${address} is allowed`, () => assert.equal(isAllowed(address), true));

  it('Configured address ranges are allowed, and addresses beside them stay blocked', () => {
    const widened = createAddressGuard(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
    for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::1']) assert.ok(widened(address), address);
    for (const address of ['10.2.0.1', '127.0.0.2', '::1', 'fc00::1']) assert.ok(!widened(address), address);
  });
});

describe('Guarded connections', () => {
  const ask = (url: string, allowed: readonly string[]) =>
    new Promise<number>((resolve, reject) => {
      const agents = createGuardedAgents(createAddressGuard(allowed));
      const done = (result: () => void) => {
        agents.destroy();
        result();
      };
      get(url, { agent: agents.http }, (response) => {
        response.resume();
        done(() => resolve(response.statusCode ?? 0));
      }).once('error', (error) => done(() => reject(error)));
    });

  it('A connection is rejected by its resolved address before anything is sent', async () => {
    const server = await serve((_request, response) => void response.end('hello'));
    const { port } = new URL(server.url);
    for (const host of ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]']) {
      await assert.rejects(ask(`http://${host}:${port}`, []), ForbiddenAddress, host);
    }
    assert.equal(server.asked(), 0);
    assert.equal(await ask(`http://127.0.0.1:${port}`, ['127.0.0.0/8']), 200);
    assert.equal(await ask(`http://localhost:${port}`, ['127.0.0.0/8']), 200);
  });
});
