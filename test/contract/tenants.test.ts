import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { difference } from '../support/checks/alike.ts';
import type { Answer } from '../support/server/server.ts';
import { sharedServer } from '../support/server/shared-server.ts';
import { meaningOf, placesOf, TENANT_SLOTS } from './tenant-slots.ts';

const answer = (status: number, text: string, headers: Record<string, string> = {}): Answer => ({
  status,
  text,
  headers: new Headers(headers),
  body: undefined,
});
const NEVER = /(?!)/g;

describe('The table of what requests can name', () => {
  for (const deployment of ['standard', 'hosted', 'marketplace'] as const) {
    it(`The table lists every parameter and field of every route of ${deployment} deployments`, async () => {
      const { routes } = (await sharedServer(deployment)).instance;
      for (const route of routes.filter(({ path, schema }) => path.startsWith('/api/v1/') && !schema.hide)) {
        const places = placesOf(route);
        const name = `${route.method} ${route.path.slice('/api/v1'.length)}`;
        const listed = (TENANT_SLOTS[name] ?? '').split(' ').filter((word) => word !== '');
        assert.deepEqual(
          listed.map((slot) => meaningOf(slot).slot).sort(),
          places.sort(),
          `${name} is not listed with all that it can name: edit its names in test/contract/routes/`,
        );
      }
    });
  }

  it('The table lists no route that does not exist', async () => {
    const { routes } = (await sharedServer('marketplace')).instance;
    const known = new Set(routes.map(({ method, path }) => `${method} ${path.slice('/api/v1'.length)}`));
    assert.deepEqual(
      Object.keys(TENANT_SLOTS).filter((name) => !known.has(name)),
      [],
    );
  });
});

describe('The comparison of two answers', () => {
  it('Answers that differ only in what their requests named, in times and in random members are alike', () => {
    const one = answer(201, '{"org":"cnryorgaa","id":9000001,"sha1":"x","at":"2026-11-16T10:00:00Z"}', { date: 'a' });
    const other = answer(201, '{"org":"noneorgaa","id":9000002,"sha1":"y","at":"2026-11-16T10:00:01Z"}', { date: 'b' });
    assert.equal(difference([one, ['cnryorgaa']], [other, ['noneorgaa']], /\b9\d{6}\b/g), undefined);
  });

  it('Answers that differ in status, in one header or in one character are told apart, by name', () => {
    const same = answer(404, '{"message":"not found"}', { 'x-total-count': '0' });
    const cases: readonly (readonly [Answer, RegExp])[] = [
      [answer(403, same.text, { 'x-total-count': '0' }), /^status: 404 .* and 403 /],
      [answer(404, same.text, { 'x-total-count': '1' }), /^header x-total-count: \["0","1"\]$/],
      [answer(404, same.text), /^header x-total-count: \["0","none"\]$/],
      [answer(404, '{"message":"not fount"}', { 'x-total-count': '0' }), /^body, from character 20 on/],
    ];
    assert.equal(difference([same, []], [same, []], NEVER), undefined);
    for (const [other, words] of cases) assert.match(difference([same, []], [other, []], NEVER) ?? '', words);
  });
});
