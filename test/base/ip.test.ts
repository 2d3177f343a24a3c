import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { networkOf, siteOf } from '../../src/base/ip.ts';

describe('Networks', () => {
  const table: readonly (readonly [string | undefined, string, string | undefined])[] = [
    ['192.0.2.1', '192.0.2.1', undefined],
    ['192.0.2.1:443', '192.0.2.1', undefined],
    [' 192.0.2.1', '192.0.2.1', undefined],
    ['::ffff:192.0.2.1', '192.0.2.1', undefined],
    ['::FFFF:192.0.2.1', '192.0.2.1', undefined],
    ['::ffff:c000:201', '192.0.2.1', undefined],
    ['0:0:0:0:0:ffff:c000:0201', '192.0.2.1', undefined],
    ['0000:0000:0000:0000:0000:ffff:192.0.2.1', '192.0.2.1', undefined],
    ['[::ffff:192.0.2.1]:8080', '192.0.2.1', undefined],
    ['2001:db8::1', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['2001:0DB8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64', '2001:db8:0::/48'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['[2001:db8:1:2::3]:443', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64', 'fe80:0:0::/48'],
    ['::1', '0:0:0:0::/64', '0:0:0::/48'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64', '64:ff9b:0::/48'],
    ['unknown', 'no address', undefined],
    ['1.2.3', 'no address', undefined],
    ['', 'no address', undefined],
    [undefined, 'no address', undefined],
    ['x'.repeat(10_000), 'no address', undefined],
  ];
  for (const [source, network, site] of table) {
    it(`${source?.slice(0, 50)} is counted as ${network}`, () => {
      assert.equal(networkOf(source), network);
      assert.equal(siteOf(source), site);
    });
  }
});
