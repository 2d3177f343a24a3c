import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { nodeFault, OLDEST_NODE } from '../../src/base/node-version.ts';

describe('The version of Node', () => {
  it('A Node that is too old is named together with the one that is needed', () => {
    for (const version of ['20.20.2', '22.21.1', '24.0.0', '24.6.0', '23.11.1', '9.9.9']) {
      assert.equal(nodeFault(version), `Node 24.7.0 or newer is required, this is v${version}`);
    }
    for (const version of ['24.7.0', '24.10.0', '24.21.0', '25.0.0', '100.0.0']) {
      assert.equal(nodeFault(version), undefined, version);
    }
  });

  it('The launcher, the image and the documentation name the same version', () => {
    assert.ok(readFileSync('bin/atrium.mjs', 'utf8').includes(`const OLDEST = '${OLDEST_NODE}';`));
    const [major, minor] = OLDEST_NODE.split('.');
    assert.match(readFileSync('docs/operating.md', 'utf8'), new RegExp(`Node ${major}\\.${minor} or newer`));
    assert.doesNotMatch(readFileSync('Dockerfile', 'utf8'), /dist\/main\.js/);
  });
});
