import assert from 'node:assert/strict';
import type { Answer, Call, TestServer } from '../server/server.ts';
import { statement } from '../server/statement.ts';

export interface Item {
  readonly id: number;
  readonly kind: string;
  readonly principal: { readonly type: string; readonly id: number; readonly name: string };
  readonly sentence: string;
  readonly state: string;
  readonly present: boolean;
  readonly rejection: { readonly reason: string; readonly message: string } | null;
}

/** Calls about the reviews of one organization. */
export function reviewsOf(org: string) {
  const path = (rest = '') => `/authz/reviews${rest}?org=${org}`;
  return {
    path,
    async start(call: Call, question: object, more: object = {}): Promise<Answer['body']> {
      const answer = await call('POST', path(), { question, ...more });
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },
    async items(call: Call, id: number): Promise<Item[]> {
      const answer = await call('GET', `${path(`/${id}`)}&limit=50`);
      assert.equal(answer.status, 200, answer.text);
      return answer.body.items;
    },
  };
}

/** Finds the item about a user, team or robot. */
export function itemOf(items: readonly Item[], name: string, kind?: string): Item {
  const found = items.filter((item) => item.principal.name === name && (kind === undefined || item.kind === kind));
  assert.equal(found.length, 1, `${name}: ${JSON.stringify(items)}`);
  return found[0] as Item;
}

/** As if uses had been noted, and everything in the organization had existed, for so many days. */
export async function backdate(atrium: TestServer, org: bigint, days: number): Promise<void> {
  const { db } = atrium.instance;
  const before = `now() - ${days} * interval '1 day'`;
  await db.query(statement(`update access_use_start set started_at = ${before}`));
  await db.query(statement(`update assignment set assigned_at = ${before} where organization_id = ${org}`));
  await db.query(
    statement(
      `update team_member set created_at = ${before} where team_id in (select id from team where organization_id = ${org})`,
    ),
  );
  await db.query(
    statement(`update role set created_at = ${before}, updated_at = ${before} where organization_id = ${org}`),
  );
}

/** As if the last uses of an organization had been so many days ago. */
export async function backdateUses(atrium: TestServer, org: bigint, days: number): Promise<void> {
  await atrium.instance.features.flushAccessUses();
  await atrium.instance.db.query(
    statement(`update access_use set last_day = last_day - ${days} where organization_id = ${org}`),
  );
}

/** As if the review were due. */
export async function makeDue(atrium: TestServer, id: number): Promise<void> {
  await atrium.instance.db.query(statement(`update review set due_at = now() - interval '1 second' where id = ${id}`));
}

/** The list of reviews of an organization, which grows up to its limit. */
export const reviewList = {
  limit: 'reviewsPerOrganization',
  grow: (atrium: TestServer, { user, org }: { readonly user: string; readonly org: string }, name: string) =>
    atrium.as(user)('POST', `/authz/reviews?org=${org}`, { name, question: { kind: 'robot_tokens', days: 90 } }),
  size: 'select count(*)::integer as n from review where organization_id = $1',
} as const;
