import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createGraph, type Graph } from '../../src/rebac/graph.ts';
import { readModel } from '../../src/rebac/model.ts';

const MIB = 1024 * 1024;

test('A graph does not retain the text that its tuples were parsed from', async () => {
  const model = await readModel(
    'model\n  schema 1.1\ntype user\ntype contract\n  relations\n    define owner: [user]\n',
  );
  const graphs: Graph[] = [];
  const before = used();
  for (let at = 0; at < 10; at++) {
    const text = `contract:12345678 owner user:1 source-of-this:${at}${' '.repeat(MIB)}`;
    const [object = '', relation = '', user = '', source = ''] = text.split(' ', 4);
    graphs.push(createGraph(model, [{ object, relation, user, source }]));
  }
  const more = used() - before;
  assert.ok(more < 3 * MIB, `${graphs.length} graphs of one tuple keep ${more} bytes`);
  assert.deepEqual([...(graphs[7]?.sources ?? [])], ['source-of-this:7']);
});

function used(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}
