import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { readModel } from '../../packages/rebac/src/rebac.ts';
import type { GraphTuple } from '../../src/changes/graph-tuple.ts';
import type { Change, Written } from '../../src/changes/write.ts';
import type { Guardrail } from '../../src/guardrails/guardrail.ts';
import { createWriteGuard, type WriteGuardStore } from '../../src/guardrails/write-guard.ts';

const HOME = 'organization:1';
const RULE: Guardrail = {
  ...{ id: 7n, organizationId: 1n, name: 'two editors', description: '', enforce: true, version: 1, statement: 1 },
  ...{ kind: 'at_least', relation: 'can_edit', objectType: 'organization', objectId: 1n, count: 2 },
  ...{ userIds: [], teamId: undefined, names: {}, createdAt: new Date(0), updatedAt: new Date(0) },
};

function team(id: number, members: readonly number[]): GraphTuple[] {
  const [object, source] = [`team:${id}`, `team:${id}`];
  return [
    { object, relation: 'organization', user: HOME, source },
    { object: HOME, relation: 'participant', user: `${object}#member`, source },
    { object: HOME, relation: 'editor', user: `${object}#member`, source },
    ...members.map((user) => ({ object, relation: 'member', user: `user:${user}`, source })),
  ];
}

describe('The guard of writes', () => {
  it('a transaction that has lost its lock does not change what the next one works with', async () => {
    const teams = new Map([
      [1, [2, 3]],
      [2, [4]],
    ]);
    const tuples = () => [...teams].flatMap(([id, members]) => team(id, members));
    let hasLostLock: Promise<void> | undefined;
    let revision = 0n;
    const store: WriteGuardStore = {
      guardrails: async () => [RULE],
      organizationsNaming: async () => [],
      load: async () => ({ revision, stamp: `${revision}`, tuples: tuples() }),
      continues: async () => true,
      async patch({ touched }) {
        const sources = touched.map(({ id }) => `team:${id}`);
        return { sources, tuples: tuples().filter(({ source }) => sources.includes(source)), isUseless: false };
      },
      violations: async () => {
        await hasLostLock;
        return new Map();
      },
      keepViolations: async () => undefined,
      living: async (_query, ids) => [...ids],
      names: async () => new Map(),
    };
    const model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
    const guard = createWriteGuard(store, model, 1e9);
    const query = (async () => []) as Written['query'];
    const write = async (id: number, members: readonly number[], at: bigint) => {
      const before = teams.get(id) ?? [];
      teams.set(id, [...members]);
      const touched: Change[] = [{ kind: 'team', id: BigInt(id), organizationId: 1n }];
      const inspect = await guard(query, touched);
      const rest = { guardrails: 'same', actor: undefined, isFact: false };
      await inspect({ query, revision: at, stamp: `${at}`, touched, ...rest }).catch((error) => {
        teams.set(id, before);
        throw error;
      });
      revision = at;
    };
    await write(1, [2, 3], 1n);

    const lost = Promise.withResolvers<void>();
    hasLostLock = lost.promise;
    // Another process has written meanwhile, so what did not hold before is read from the database.
    const first = write(1, [2], 5n);
    await new Promise((resolve) => setImmediate(resolve));
    hasLostLock = undefined;
    await write(1, [2], 5n);
    lost.reject(new Error('the connection was lost'));
    await assert.rejects(first, /the connection was lost/);

    teams.set(1, [2]);
    await assert.rejects(write(2, [], 6n), /two editors/, 'only one editor is left');
  });
});
