import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/base/config/config.ts';
import { placeOf, serverConfig, type Which } from '../../src/bus/server-config.ts';

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

describe('NATS server configuration of a cluster', () => {
  const three = ['nats://bus-1.example.com:4222', 'nats://bus-2.example.com:4223', 'nats://bus-3.example.com'];
  const print = (which: Which, urls = three, wsUrls: string[] = []) =>
    serverConfig(SETUP, placeOf({ urls, wsUrls, folder: '/srv' }, which));

  it('Each server of a cluster has a name and addresses of its own, and routes to all others', () => {
    const text = print({ number: 2 });
    assert.match(text, /^server_name: "atrium-bus-2"\nlisten: "0\.0\.0\.0:4223"$/m);
    assert.match(text, /^client_advertise: "bus-2\.example\.com:4223"$/m);
    assert.match(text, /^ {2}listen: "0\.0\.0\.0:6222"$/m);
    const routes = [...text.matchAll(/"nats:\/\/(.*)"/g)].map((found) => found[1]);
    assert.deepEqual(routes, ['bus-1.example.com:6222', 'bus-3.example.com:6222']);
    assert.match(print({ number: 3 }, three, ['ws://a:1', 'ws://a:2', 'ws://a:3']), /listen: "0\.0\.0\.0:3"/);
  });

  it('A single server is no cluster', () => {
    const text = print({}, ['nats://bus.example.com']);
    assert.doesNotMatch(text, /cluster|client_advertise/);
    assert.match(text, /^server_name: "atrium-bus"$/m);
  });

  it('A server of a cluster is printed only if it is clear which one, and where the others are', () => {
    assert.throws(() => print({}), /BUS_URL names 3 servers: choose one of them with --server 1 to 3/);
    assert.throws(() => print({ number: 4 }), /--server must be a number from 1 to 3/);
    const near = ['nats://127.0.0.1:4222', 'nats://127.0.0.1:4223'];
    assert.throws(() => print({ number: 1 }, near), /servers on one host need ports of their own/);
    for (const routes of [['a:1'], ['a:1', 'a:1'], ['a:1', 'a'], ['a:1', 'user@a:2']]) {
      assert.throws(
        () => print({ number: 1, routes }, near),
        /^AppError: --routes must name host:port of each of the 2/,
      );
    }
    assert.match(print({ number: 1, routes: ['127.0.0.1:1', '127.0.0.1:2'] }, near), /listen: "127\.0\.0\.1:1"/);
  });

  it('The addresses of a bus share a scheme, and none is named twice', () => {
    assert.deepEqual(readConfig({ BUS_URL: 'nats://a:1, nats://b/' }).BUS_URL, ['nats://a:1', 'nats://b']);
    assert.throws(() => readConfig({ BUS_URL: 'nats://a,tls://b' }), /BUS_URL must not mix nats:\/\/ and tls:\/\//);
    assert.throws(() => readConfig({ BUS_URL: 'nats://a,nats://a' }), /BUS_URL must not name an address twice/);
    assert.throws(() => readConfig({ BUS_URL: 'nats://a,' }), /BUS_URL must be a URL/);
    assert.throws(() => readConfig({ BUS_WS_URL: 'ws://a,http://b' }), /BUS_WS_URL must be a URL/);
  });
});
