import { createReferences } from '../../assignments/assignment-references.store.ts';
import type { Actor } from '../../changes/audit-entry.ts';
import type { Write } from '../../changes/write.ts';
import { type Db, type Query, type Statement, sql } from '../../db/db.ts';
import type { AskedType } from '../access-request.ts';
import type { RequestRule, RuleApprovers } from './request-rule.ts';
import type { RequestRuleStore, RequestRules } from './request-rules.ts';

interface Row {
  rules: string;
  version: number;
}

const GET = sql('requestRules.get', 'select rules, version from request_rules where organization_id = $1');
const JOIN = sql('requestRules.join', 'select id from account where id = $1 for key share');
const ADD = sql(
  'requestRules.add',
  `insert into request_rules (organization_id, rules) values ($1, '[]') on conflict do nothing`,
);
const LOCK = sql('requestRules.lock', 'select rules, version from request_rules where organization_id = $1 for update');
const UPDATE = sql(
  'requestRules.update',
  'update request_rules set rules = $2, version = version + 1 where organization_id = $1',
);
const UNKNOWN: Readonly<Record<'role' | 'team', Statement>> = {
  role: unknown('role'),
  team: unknown('team'),
};

function unknown(table: 'role' | 'team'): Statement {
  return sql(
    `requestRules.unknown:${table}`,
    `select n.name from unnest($2::text[]) as n (name)
      where not exists (select 1 from ${table} o where o.organization_id = $1 and o.name_key = lower(n.name))`,
  );
}

export function createRequestRuleStore(db: Db, write: Write): RequestRuleStore {
  const references = createReferences(db);
  return { get, put, object, unknownNames };

  async function get(organizationId: bigint): Promise<RequestRules> {
    const [row] = await db.query<Row & Record<string, unknown>>(GET, [organizationId]);
    return toRules(organizationId, row);
  }

  async function put(
    organizationId: bigint,
    actor: Actor,
    rules: readonly RequestRule[],
    decide: (current: RequestRules) => void,
  ): Promise<RequestRules> {
    return await write(async (query, touch, record) => {
      query.later(JOIN, [organizationId]);
      query.later(ADD, [organizationId]);
      const [row] = await query<Row & Record<string, unknown>>(LOCK, [organizationId]);
      const current = toRules(organizationId, row);
      decide(current);
      const text = toText(rules);
      if (text === toText(current.rules)) return current;
      query.later(UPDATE, [organizationId, text]);
      touch({ kind: 'request', id: organizationId, organizationId });
      record({
        ...{ actor, organizationId, action: 'request_rules.update', objectType: 'organization' },
        ...{ objectId: organizationId, before: { rules: told(current.rules) }, after: { rules: told(rules) } },
      });
      return { ...current, rules, version: current.version + 1 };
    });
  }

  async function object(organizationId: bigint, { type, id, name }: Parameters<RequestRuleStore['object']>[1]) {
    const found = await references.place(organizationId, { type, id, name });
    return found?.id === undefined ? undefined : { type: found.type as AskedType, id: found.id, name: found.name };
  }

  async function unknownNames(organizationId: bigint, of: 'role' | 'team', names: readonly string[]) {
    if (names.length === 0) return [];
    return (await db.query<{ name: string }>(UNKNOWN[of], [organizationId, names])).map(({ name }) => name);
  }
}

/** As a part of a larger transaction or snapshot. */
export async function readRequestRulesOf(query: Query, organizationId: bigint): Promise<readonly RequestRule[]> {
  const [row] = await query<Row & Record<string, unknown>>(GET, [organizationId]);
  return toRules(organizationId, row).rules;
}

function toRules(id: bigint, row: Row | undefined): RequestRules {
  return { id, rules: row ? fromText(row.rules) : [], version: row?.version ?? 1 };
}

/** What is stored: a text is the name of a team, also of one that is called manager. */
type StoredApprovers = string | { readonly manager: true };
type StoredRule = Omit<RequestRule, 'approvers'> & { readonly approvers?: StoredApprovers };

function toText(rules: readonly RequestRule[]): string {
  return exact(
    rules.map(
      ({ approvers, ...rule }): StoredRule => ({ ...rule, ...(approvers && { approvers: stored(approvers) }) }),
    ),
  );
}

/** IDs as decimal texts: JSON has no exact int64. */
function exact(value: unknown): string {
  return JSON.stringify(value, (_key, one) => (typeof one === 'bigint' ? String(one) : one));
}

function stored(approvers: RuleApprovers): StoredApprovers {
  return approvers === 'manager' ? { manager: true } : approvers.team;
}

function fromText(text: string): RequestRule[] {
  const read = JSON.parse(text) as StoredRule[];
  return read.map(({ match, approvers, ...rule }) => ({
    ...rule,
    ...(approvers !== undefined && {
      approvers: typeof approvers === 'string' ? { team: approvers } : ('manager' as const),
    }),
    match: {
      ...match,
      ...(match.objects && { objects: match.objects.map((one) => ({ ...one, id: BigInt(one.id) })) }),
    },
  }));
}

/** In the audit log, a rule is what its owner wrote. */
function told(rules: readonly RequestRule[]): object[] {
  return rules.map(({ longestSeconds: _, ...rule }) => JSON.parse(exact(rule)));
}
