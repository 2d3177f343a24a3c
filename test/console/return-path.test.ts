import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { returnPath } from '../../console/src/data/return-path.ts';

describe('The page that the console goes back to', () => {
  const back = (wanted: string) => returnPath(`?${new URLSearchParams({ return_to: wanted })}`);

  it('A path of the console is kept, with its query and its fragment', () => {
    for (const path of ['/', '/me/device?code=BCDF-GHJK', '/orgs/acme/teams?page=2#roles']) {
      assert.equal(back(path), path);
    }
    assert.equal(returnPath(''), '/');
    assert.equal(returnPath('?methods=totp'), '/');
  });

  it('What a browser would read as another site, or not at all, leads home', () => {
    for (const path of [
      ...['//evil.example', '/\\evil.example', '\\\\evil.example', '/\t/evil.example', '/\n/evil.example'],
      ...['/.//evil.example', '/..//evil.example', '/x/..//evil.example', '///evil.example', ' //evil.example'],
      ...['https://evil.example', 'javascript:alert(1)', 'data:text/html,x', 'http://[', 'http://:0'],
    ]) {
      assert.equal(back(path), '/', path);
    }
  });
});
