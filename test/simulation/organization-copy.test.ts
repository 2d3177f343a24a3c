import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, describe, it } from 'node:test';
import { type Model, readModel } from '../../packages/rebac/src/rebac.ts';
import type { GraphTuple } from '../../src/changes/graph-tuple.ts';
import type { GuardrailRule } from '../../src/guardrails/guardrail.ts';
import { violationsAmong } from '../../src/guardrails/violations.ts';
import { copyFrom } from '../../src/simulation/organization-copy.ts';
import { createRandom, SEED } from '../support/checks/random.ts';
import { randomOrganization } from '../support/world/random-organization.ts';

const WORLDS = 4;
const CHANGES = 8;

/** Each about any object of its type, and about one of them. */
const RULES: readonly (GuardrailRule & { readonly id: bigint })[] = (['cluster', 'team'] as const).flatMap(
  (objectType, place) =>
    ['can_view', 'can_edit', 'can_delete', objectType === 'team' ? 'can_remove_member' : 'can_connect'].flatMap(
      (relation, at) =>
        (['never', 'always', 'at_least', 'at_most'] as const).flatMap((kind, which) =>
          [undefined, 2n].map((objectId, one) => ({
            id: BigInt(place * 100 + at * 20 + which * 2 + one + 1),
            kind,
            relation,
            objectType,
            objectId,
            teamId: which === 0 ? 3n : undefined,
            userIds: [1n, 2n, 3n, 4n],
            count: 3,
          })),
        ),
    ),
);

describe('Guardrails in a copy that changes', () => {
  let model: Model;
  before(async () => {
    model = await readModel(readFileSync('src/authz/platform.fga', 'utf8'));
  });

  it(`What is remembered from before a change is what a new copy finds, with seed ${SEED}`, async () => {
    const random = createRandom();
    let found = 0;
    for (let world = 0; world < WORLDS; world++) {
      const sourced = () =>
        randomOrganization(model, random).tuples.map((tuple) => ({ ...tuple, source: sourceOf(tuple) }));
      let tuples: GraphTuple[] = sourced();
      const copy = await copyFrom(model, tuples);
      for (let change = 0; change < CHANGES; change++) {
        const source = random.pick(['team:1', 'team:2', 'team:3', 'role:1', 'cluster:1', 'organization:1']);
        const stated = sourced().filter((tuple) => tuple.source === source);
        // Most changes are about single people.
        const members = stated.filter(({ user }) => user.startsWith('user:'));
        const rest = tuples.filter((tuple) => tuple.source === source && !tuple.user.startsWith('user:'));
        const next = random.chance(0.6) ? [...rest, ...members] : stated;
        const undo = copy.replaceSource(source, next);
        if (undo && random.chance(0.2)) undo();
        else tuples = [...tuples.filter((tuple) => tuple.source !== source), ...next];
        const violations = await violationsAmong(copy, RULES);
        assert.deepEqual(
          violations,
          await violationsAmong(await copyFrom(model, tuples), RULES),
          `${source} in world ${world}`,
        );
        found += violations.size;
      }
    }
    assert.ok(found > 0);
  });
});

/** The row that a tuple comes from: what a team or a role is in the organization comes from the team or the role. */
function sourceOf({ user, object }: { readonly user: string; readonly object: string }): string {
  const [subject = ''] = user.split('#');
  return object.startsWith('organization:') && /^(team|role):/.test(subject) ? subject : object;
}
