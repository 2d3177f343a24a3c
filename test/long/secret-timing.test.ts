import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createLinks } from '../../src/marketplace/installers/links.ts';
import { createSecrets } from '../../src/marketplace/notifications/secrets.ts';
import type { Installer } from '../../src/marketplace/subscriptions/delivery-transaction.ts';
import { COUNTS } from '../counts.ts';

const KEY = Buffer.alloc(32, 7);
const SAMPLES = COUNTS.timingSamples;
const CALLS = 100;
/** Far from what a busy machine does to a median, and far from what an early exit does. */
const MARGIN = 1.35;

const almost = (right: string) => `${right.slice(0, -1)}${right.endsWith('A') ? 'B' : 'A'}`;
const nothing = (right: string) => [...right].map((letter) => (letter === 'A' ? 'B' : 'A')).join('');

/** The time of rejecting a value that is right up to its last character, relative to one that is all wrong. */
function ratio(rejects: (given: string) => boolean, right: string): number {
  const values = [almost(right), nothing(right)] as const;
  const times = values.map((): number[] => []);
  for (let sample = 0; sample < SAMPLES; sample++) {
    // In turn, so that whatever else the machine does hits both alike.
    for (const which of sample % 2 === 0 ? [0, 1] : [1, 0]) {
      const value = values[which] ?? '';
      const began = process.hrtime.bigint();
      for (let call = 0; call < CALLS; call++) assert.ok(rejects(value));
      times[which]?.push(Number(process.hrtime.bigint() - began));
    }
  }
  const [near = 0, far = 1] = times.map((list) => list.sort((a, b) => a - b)[list.length >> 1] ?? 0);
  return near / far;
}

function assertSteady(found: number): void {
  assert.ok(found < MARGIN && found > 1 / MARGIN, `the ratio is ${found.toFixed(2)}`);
}

describe('The time of rejecting a secret', () => {
  it('A marketplace secret that is nearly right is rejected in the same time as one that is all wrong', () => {
    const right = 'nLpQ4v8ZrT0yWc2XsKd6HbJm9GfE1uAoIqVxNz53';
    const store = {
      live: async () => ({ secrets: [], testInstallers: [] }),
      list: async () => [],
      add: async () => new Date(),
      retire: async () => false,
    };
    const settings = { CLOUD_B_SECRETS: [right], CLOUD_C_SECRETS: [], CLOUD_C_TEST_INSTALLER: '' };
    const secrets = createSecrets(store, settings as unknown as Parameters<typeof createSecrets>[1], KEY);
    assert.ok(secrets.proves('CloudB', right));
    assertSteady(ratio((given) => !secrets.proves('CloudB', given), right));
  });

  it('A link to an archive with a nearly right signature is rejected in the same time as one that is all wrong', () => {
    const links = createLinks(KEY, () => 'https://atrium.example');
    const bound = { organizationId: 7n, organizationName: 'acme', contractRevoked: false };
    const installer = { id: 'i1', linkGeneration: 0, binding: bound } as unknown as Installer;
    const now = new Date('2026-11-16T00:00:00Z');
    const url = new URL(links.make(installer, links.expiryFrom(now)));
    const [exp, right] = [url.searchParams.get('exp'), url.searchParams.get('sig') ?? ''];
    const isRejected = (sig: string) => {
      try {
        links.follow({ ownerId: '7', name: 'acme', installerId: 'i1', exp, sig }, installer, now);
        return false;
      } catch {
        return true;
      }
    };
    assert.ok(!isRejected(right));
    assertSteady(ratio(isRejected, right));
  });

  it('A comparison that stops at the first wrong character is noticed', () => {
    const right = 'nLpQ4v8ZrT0yWc2XsKd6HbJm9GfE1uAoIqVxNz53';
    const stopsEarly = (given: string) => {
      for (let at = 0; at < right.length; at++) if (right.charCodeAt(at) !== given.charCodeAt(at)) return true;
      return false;
    };
    const found = ratio(stopsEarly, right);
    assert.ok(found > MARGIN, `the ratio is ${found.toFixed(2)}`);
  });
});
