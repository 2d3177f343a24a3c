import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { OBJECT_KINDS } from '../src/changes/object-kinds.ts';
import { typeLists } from './support/checks/type-lists.ts';

/** Everything that a type is called. The last word is the plural. */
const WORDS = Object.fromEntries(
  Object.entries(OBJECT_KINDS).map(([type, { word, title, plural }]) => [type, [type, word, title, plural]]),
);

/** Files with a list that does not follow from the table, and why nothing goes wrong if a new type is not in it. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/changes/object-kinds.ts': 'the table itself',
  'src/features.ts': 'wires folders, which are more than types; what is missing there is missing for its own tests',
  'src/authz/explain/all-paths.ts': 'what rights come through; no right comes through a resource',
  'src/simulation/organization-state.ts': 'what rights come through; no right comes through a resource',
  'src/simulation/simulation.ts': 'what rights come through; no right comes through a resource',
  'src/impact/change-plan.view.ts': 'the fields of planned changes; a change whose field is missing does not compile',
  'src/overview/overview.ts': 'the lists that are counted in detail; any other is counted by its length',
  'src/organization-file/organization-document.ts': 'the sections of the file; most of them are not types',
  'src/organization-file/organization-file.view.ts': 'the sections of the file; most of them are not types',
  'src/organization-file/past/past-content.ts':
    'the sections of a file of the past; one that is missing does not compile',
  'src/organization-file/plans/organization-plan.ts': 'the parts of a plan; a part that is missing does not compile',
  'src/marketplace/installers/archive-files.ts': 'the fields of a file in the archive of an installer',
  'src/marketplace/subscriptions/binding.ts': 'the fields of a notification of a marketplace',
  'cli/commands/org.ts': 'the counts in detail; any other count is printed as a number',
  'console/src/data/events.ts': 'which changes concern a call; a call that is not there is repeated after every change',
  'console/src/pages/orgs/ending-days.ts': 'what the overview counts by day; nothing else ends by itself',
  'console/src/icons/icon.tsx': 'drawings, most of them not of types; a type without one does not compile',
};

describe('Lists of object types', () => {
  it('Every list of object types derives from object-kinds.ts', () => {
    const paths = globSync('{src,packages/*/src,cli,client,console}/**/*.{ts,tsx}', {
      exclude: ['**/node_modules/**', '**/dist/**'],
    });
    const written = paths.filter((path) => !path.endsWith('.gen.ts')).sort();
    assert.ok(written.length > 500, 'the tree was found');
    const found = written.flatMap((path) => typeLists(path, readFileSync(path, 'utf8'), WORDS));
    const isException = (fault: string) => Object.hasOwn(EXCEPTIONS, fault.split(':')[0] ?? '');
    assert.deepEqual(
      found.filter((fault) => !isException(fault)),
      [],
    );
    for (const path of Object.keys(EXCEPTIONS)) {
      assert.ok(
        found.some((fault) => fault.startsWith(`${path}:`)),
        `${path} has no list any more: take it from the exceptions`,
      );
    }
  });

  const LISTS: readonly string[] = [
    `const TYPES = ['team', 'cluster', 'robot_ac'] as const;`,
    `const TYPES = new Set<string>(['team', 'cluster', 'robot account']);`,
    `const TYPES = [{ value: 'team' }, { value: 'cluster' }, { value: 'robot' }];`,
    `const TYPES = [['teams', 1], ['clusters', 2], ['robots', 3]] as const;`,
    `const TYPES = words('team', 'cluster', 'robot');`,
    `type Thing = 'team' | 'cluster' | 'robot';`,
    `interface Things { teams: number; clusters: number; robots: number }`,
    `const PATHS = { team: 'a', cluster: 'b', robot: 'c' };`,
    `const PATHS: Readonly<Record<string, string>> = { team: 'a', cluster: 'b', robot: 'c' };`,
    `const PATHS: Partial<Record<Kind, string>> = { team: 'a', cluster: 'b', robot: 'c' };`,
    `switch (type) { case 'team': case 'cluster': case 'robot_ac': run(); }`,
    `if (type === 'team' || type === 'cluster' || type === 'robot_ac') run();`,
    `const PATH = /^(teams|clusters|robots)$/;`,
    "const QUERY = sql(`select id from audit where object_type in ('team', 'cluster', 'robot_ac')`);",
  ];
  for (const text of LISTS) {
    it(`A list of object types is found in: ${text}`, () => {
      assert.equal(typeLists('src/roles/things.ts', text, WORDS).length, 1);
    });
  }

  const ALLOWED: readonly string[] = [
    `const PAIR = ['team', 'cluster'];`,
    `const PATHS: Readonly<Record<Kind, string>> = { team: 'a', cluster: 'b', robot: 'c' };`,
    `const PATHS = { team: 'a', cluster: 'b', robot: 'c' } as const satisfies Record<Kind, string>;`,
    `const world = { teams: [], clusters: [], robots: [] } satisfies World;`,
    `const member = { organization: 'acme', teams: [], roles: [] };`,
    `const parts = { team, cluster, robot };`,
    `const text = 'Deletes its teams, clusters and robots.';`,
  ];
  for (const text of ALLOWED) {
    it(`No list of object types is found in: ${text}`, () => {
      assert.deepEqual(typeLists('src/roles/things.ts', text, WORDS), []);
    });
  }
});
