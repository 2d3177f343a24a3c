import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withNotice } from '../../cli/http.ts';
import { hoursIn, momentIn, pastMoment, shortTime } from '../../cli/moments.ts';
import { asJson, asYaml } from '../../cli/output.ts';
import { nearest } from '../../cli/suggest.ts';
import { layTable } from '../../cli/table.ts';
import { cut, plain, widthOf } from '../../cli/text.ts';

describe('Text on a terminal', () => {
  it('The display width of text accounts for wide, combining and emoji characters', () => {
    const WIDTHS: readonly (readonly [text: string, width: number])[] = [
      ['plain', 5],
      ['Zoë', 3],
      ['Zoe\u0308', 3],
      ['東京', 4],
      ['한글', 4],
      ['👩‍🚀', 2],
      ['🇩🇪', 2],
      ['❤️', 2],
      ['→…', 2],
      ['', 0],
    ];
    for (const [text, width] of WIDTHS) assert.equal(widthOf(text), width, text);
  });

  it('Text is truncated between characters, never inside one', () => {
    assert.equal(cut('Frankfurt', 6), 'Frank…');
    assert.equal(cut('東京都', 4), '東…');
    assert.equal(cut('short', 5), 'short');
  });

  it('Control characters are escaped in text and JSON output', () => {
    assert.equal(plain('a\u001b[2Jb\u009bc\u202ed\ne'), 'a\\u001b[2Jb\\u009bc\\u202ed e');
    assert.equal(asJson('\u001b\u009b\u202e'), '"\\u001b\\u009b\\u202e"');
  });

  it('Tables have aligned columns and fit the given width', () => {
    const row = (name: string, count: string) => [
      { title: 'NAME', text: name, right: false },
      { title: 'N', text: count, right: true },
    ];
    const rows = [row('東京', '7'), row('a\u001b', '10')];
    assert.deepEqual(layTable(rows, undefined, String), ['NAME      N', '東京      7', 'a\\u001b  10']);
    const long = [row('x'.repeat(50), '1')];
    assert.deepEqual(layTable(long, 20, String).map(widthOf), [20, 20]);
  });
});

describe('Output for scripts', () => {
  it('JSON and YAML output is exact for large integers and decimals', async () => {
    const value = { id: 9007199254740993n, rate: JSON.rawJSON('1.50'), text: 'yes', none: null };
    assert.equal(asJson(value), '{\n  "id": 9007199254740993,\n  "rate": 1.50,\n  "text": "yes",\n  "none": null\n}');
    assert.equal(await asYaml(value), 'id: 9007199254740993\nrate: 1.50\ntext: yes\nnone: null');
  });
});

describe('Times', () => {
  it('Times are parsed as a duration or a date, and anything else is rejected', () => {
    const now = Date.parse('2026-01-31T12:00:00Z');
    assert.equal(momentIn('90m', 1, now), '2026-01-31T13:30:00Z');
    assert.equal(momentIn('7d', -1, now), '2026-01-24T12:00:00Z');
    assert.equal(momentIn('2026-01-31', 1, now), '2026-01-31T00:00:00Z');
    for (const wrong of ['soon', '7', '2026-13-01', '7y', ''])
      assert.throws(() => momentIn(wrong, 1, now), /is not a time/);
    const yesterday = Date.parse(pastMoment('yesterday', false) ?? '');
    assert.ok(Math.abs(Date.now() - 86_400_000 - yesterday) < 60_000);
    assert.equal(pastMoment(undefined, true), undefined);
    assert.throws(() => pastMoment('7d', true), /leave out --at/);
    assert.equal(shortTime('1970-01-01T00:00:00Z'), 'never');
    assert.equal(shortTime(null), 'never');
  });

  it('A time span is given in minutes, hours, days or weeks', () => {
    assert.deepEqual(['90m', '24h', '7d', '1w'].map(hoursIn), [1.5, 24, 168, 168]);
    for (const wrong of ['', '24', 'soon', '2026-01-31', '-1h'])
      assert.throws(() => hoursIn(wrong), /is not a time span/);
  });

  it('A token that expires soon is announced once, and nothing is said about others', async () => {
    const said: string[] = [];
    const answering = (end: string | null) =>
      withNotice(
        async () => ({ status: 200, headers: { get: () => end }, body: null, text: async () => '' }),
        (line) => said.push(line),
      );
    const { signal } = new AbortController();
    const init = { method: 'GET', headers: {}, redirect: 'error', signal } as const;
    await answering(null)('http://127.0.0.1/', init);
    assert.deepEqual(said, []);
    const send = answering('2026-01-31T12:00:00Z');
    for (let time = 0; time < 3; time++) await send('http://127.0.0.1/', init);
    assert.deepEqual(said, [
      'warning: your access token expires at 2026-01-31T12:00:00Z; replace it with atrium token rotate',
    ]);
  });
});

it('Only a close match is suggested for a mistyped word', () => {
  assert.equal(nearest('tem', ['team', 'role']), 'team');
  assert.equal(nearest('raem', ['team', 'role']), undefined);
  assert.equal(nearest('clsuter', ['cluster', 'contract']), 'cluster');
  assert.equal(nearest('xyz', ['team']), undefined);
});
