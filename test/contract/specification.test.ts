import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { readList } from '../support/checks/golden.ts';
import { sharedServer } from '../support/server/shared-server.ts';

const SPECIFICATION = 'test/contract/specification.txt';
const MISSING = 'test/contract/missing.txt';
const HEADER = `# Endpoints of the specification that are not mounted yet. This list may only shrink: whoever mounts one takes it out
# (UPDATE_GOLDEN=1 does it, and never puts one in).

`;

/** One spelling for `PUT    /a/{id}/` and `PUT /a/:id`: the name of a parameter is not part of the contract. */
function normal(line: string): string {
  const [method = '', path = ''] = line.split(/\s+/);
  return `${method} ${path.replace(/\{\w+\}|:\w+/g, '{}').replace(/\/$/, '')}`;
}

describe('Specification', () => {
  const specified = readList(SPECIFICATION);
  const mounted = new Set<string>();
  const described = new Set<string>();
  const extensions = new Map<string, boolean>();
  before(async () => {
    for (const deployment of ['standard', 'hosted', 'marketplace'] as const) {
      const atrium = await sharedServer(deployment);
      // A page of the frontend that happens to answer there is not the endpoint.
      for (const { method, path, schema } of atrium.instance.routes)
        if (!schema.hide) mounted.add(normal(`${method} ${path}`));
    }
    const { paths } = JSON.parse(readFileSync('openapi/atrium.json', 'utf8')) as {
      paths: Record<string, Record<string, object>>;
    };
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const line = normal(`${method.toUpperCase()} ${path}`);
        described.add(line);
        extensions.set(line, 'x-extension' in operation && operation['x-extension'] === true);
      }
    }
    if (process.env.UPDATE_GOLDEN === '1') {
      const left = readList(MISSING).filter((line) => !mounted.has(normal(line)));
      writeFileSync(MISSING, `${HEADER}${left.join('\n')}\n`);
    }
  });

  it('The specification lists each of its endpoints once', () => {
    assert.equal(specified.length, 45);
    assert.equal(new Set(specified.map(normal)).size, specified.length);
  });

  it('Every specified endpoint is mounted or listed in missing.txt', () => {
    const admitted = new Set(readList(MISSING).map(normal));
    const lacking = specified.filter((line) => !mounted.has(normal(line)) && !admitted.has(normal(line)));
    assert.deepEqual(lacking, [], 'these endpoints are neither mounted nor in missing.txt, which may only shrink');
  });

  it('missing.txt lists only specified endpoints that are not mounted', () => {
    const known = new Set(specified.map(normal));
    for (const line of readList(MISSING)) {
      assert.ok(!mounted.has(normal(line)), `${line} is mounted: take it out of missing.txt`);
      assert.ok(known.has(normal(line)), `${line} is not in the specification`);
    }
  });

  it('Exactly the operations that the specification does not have are marked as extensions', () => {
    const known = new Set(specified.map(normal));
    const marked = [...extensions].filter(([line, isMarked]) => isMarked === known.has(line)).map(([line]) => line);
    assert.deepEqual(marked, [], 'set or remove `extension: true` in the schema of these routes');
  });

  it('The API documentation describes exactly the mounted endpoints', () => {
    assert.ok(described.size >= specified.length);
    assert.deepEqual([...described].sort(), [...mounted].sort());
  });
});
