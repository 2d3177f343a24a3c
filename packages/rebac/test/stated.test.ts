import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGraph } from '../src/graph.ts';
import { readModel } from '../src/model.ts';
import { nodeOf, statedTo, textOfObject, textsByObject } from '../src/stated.ts';
import { textOf, tuplesOf } from './rule-cases.ts';

const model = await readModel(
  textOf(`
  team
    member: [user, user:*, team#member]
  folder
    team: [team]
    viewer: [user, team#member]
    editor: [user, user with cb, team#member]
    can_view: viewer or editor or member from team
    condition cb(ok: bool) { ok }
`),
);

const graphOf = (...lines: readonly string[]) => createGraph(model, tuplesOf(lines));

test('What is stated to a subject is listed once, with nothing that follows from it', () => {
  const graph = graphOf(
    'team:1#member@user:a',
    'folder:1#viewer@user:a',
    'folder:1#editor@user:a',
    'folder:2#viewer@team:1#member',
    'team:2#member@team:1#member',
    'folder:3#viewer@user:b',
  );
  const to = (subject: string) =>
    statedTo(graph, subject)
      .map(({ relation, object }) => `${object} ${relation}`)
      .sort();
  assert.deepEqual(to('user:a'), ['folder:1 editor', 'folder:1 viewer', 'team:1 member']);
  assert.deepEqual(to('team:1#member'), ['folder:2 viewer', 'team:2 member']);
  assert.deepEqual([to('user:nobody'), to('team:3#member'), to('nonsense')], [[], [], []]);
});

test('Two users to whom the same is stated have the same texts', () => {
  const graph = graphOf(
    'folder:1#viewer@user:a',
    'folder:1#viewer@user:b',
    'folder:1#editor@user:c',
    'folder:2#editor@user:d cb',
    'folder:2#editor@user:e cb',
  );
  const texts = (user: string) => [...textsByObject(graph, nodeOf(graph, user))];
  assert.equal(texts('user:a').length, 1);
  assert.deepEqual(texts('user:a'), texts('user:b'));
  assert.notDeepEqual(texts('user:a'), texts('user:c'));
  assert.notDeepEqual(texts('user:d'), texts('user:e'), 'conditions are not compared');
  assert.deepEqual(texts('user:nobody'), []);
});

test('Two objects have the same text if they differ in single users only', () => {
  const graph = graphOf(
    ...['folder:1#viewer@team:1#member', 'folder:1#team@team:1', 'folder:1#viewer@user:a'],
    ...['folder:2#viewer@team:1#member', 'folder:2#team@team:1', 'folder:2#editor@user:b'],
    ...['folder:3#viewer@team:1#member', 'folder:3#team@team:2'],
    ...['folder:4#editor@team:1#member', 'folder:4#team@team:1'],
    ...['team:1#member@user:*', 'team:2#member@user:a', 'team:3#member@team:4#member'],
  );
  const text = (object: string) => textOfObject(graph, nodeOf(graph, object));
  assert.equal(text('folder:1'), text('folder:2'));
  assert.equal(new Set(['folder:1', 'folder:3', 'folder:4', 'team:1', 'team:2', 'team:3'].map(text)).size, 6);
  assert.deepEqual([text('team:2'), text('folder:9')], ['', '']);
});
