import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { serverConfig } from '../../src/bus/server-config.ts';

const SETUP = {
  operatorJwt: 'eyJ.op',
  systemAccount: 'ASYS',
  accounts: [{ name: 'system', key: 'ASYS', jwt: 'eyJ.sys' }],
};

const listening = (url: string, wsUrl?: string) =>
  [...serverConfig(SETUP, { url, wsUrl, folder: '/srv' }).matchAll(/listen: "(.*)"/g)].map((found) => found[1]);

describe('NATS server configuration', () => {
  const PLACES: readonly (readonly [url: string, wsUrl: string | undefined, places: string[]])[] = [
    ['nats://127.0.0.1:4222', undefined, ['127.0.0.1:4222']],
    ['nats://localhost', undefined, ['127.0.0.1:4222']],
    ['nats://[::1]:4333', undefined, ['[::1]:4333']],
    ['nats://bus.example.com', 'ws://bus.example.com', ['0.0.0.0:4222', '0.0.0.0:80']],
    ['nats://bus.example.com:80', 'ws://127.0.0.2:80', ['0.0.0.0:80', '127.0.0.2:80']],
    ['tls://10.1.2.3:5222', 'wss://bus.example.com/path', ['0.0.0.0:5222', '0.0.0.0:443']],
    ['tls://10.1.2.3', 'wss://bus.example.com:9443', ['0.0.0.0:4222', '0.0.0.0:9443']],
  ];
  for (const [url, wsUrl, places] of PLACES) {
    it(`A NATS server for ${[url, wsUrl].filter(Boolean).join(' and ')} listens on ${places.join(' and ')}`, () =>
      assert.deepEqual(listening(url, wsUrl), places));
  }

  it('The NATS server configuration names a certificate only for TLS addresses', () => {
    const text = (url: string, wsUrl: string) => serverConfig(SETUP, { url, wsUrl, folder: '.' });
    assert.equal(text('tls://a', 'wss://a').match(/cert_file/g)?.length, 2);
    assert.equal(text('nats://a', 'ws://a').match(/cert_file/g), null);
    assert.match(text('nats://a', 'ws://a'), /no_tls: true/);
  });

  it('The NATS server configuration quotes the folder path', () => {
    const text = serverConfig(SETUP, { url: 'nats://a', wsUrl: undefined, folder: '/srv/my "bus"' });
    assert.match(text, /dir: "\/srv\/my \\"bus\\"\/accounts"/);
  });
});
