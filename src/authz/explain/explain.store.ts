import { NAMED_TYPES } from '../../changes/object-kinds.ts';
import { principalOfRobot } from '../../changes/principal.ts';
import { type Db, type Query, type Statement, sql } from '../../db/db.ts';
import { nameKey } from '../../identity/account-names/account-names.ts';
import { ON_NAME } from '../places/assignment-row.rows.ts';
import type { ExplainStore, Names } from './question.ts';

// The role, on what, in which namespaces, and until when.
const IN_NAMESPACES = `case when s.namespaces is null then ''
      when cardinality(s.namespaces) = 1 and s.namespaces[1] not like '%*' then ' in the namespace ' || s.namespaces[1]
      else ' in the namespaces ' || array_to_string(s.namespaces, ', ') end`;
const ASSIGNMENTS = (
  ids: string,
) => `select 'assignment:' || s.id as object, (select r.name from role r where r.id = s.role_id) || ' on ' ||
    ${ON_NAME} || ${IN_NAMESPACES} || case when s.expires_at is null then '' else ' until ' ||
      to_char(s.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') end as name
  from assignment s where s.id = any(${ids})`;
const NAMED = [
  ...NAMED_TYPES.map(({ type, table, accountKind }) => {
    const ofKind = accountKind === undefined ? '' : `kind = '${accountKind}' and `;
    const text = (ids: string) =>
      `select '${type}:' || id as object, name from ${table} where ${ofKind}id = any(${ids})`;
    return { type: type as string, text };
  }),
  { type: 'assignment', text: ASSIGNMENTS },
];
/**
 * By the types that are asked about. There is a statement for each set of types, because planning one over all of them
 * takes many times as long as running it.
 */
const statements = new Map<string, Statement>();
const PERSON = sql('explain.person', `select id, name from account where kind = 'user' and name_key = $1`);

const ROBOT = sql(
  'explain.robot',
  'select id, name from robot where owner_id = $1 and (id = $2 or ($2::bigint is null and name = $3))',
);

const INACTIVE = sql('explain.inactive', 'select id from account where id = any($1::bigint[]) and not active');

export function createExplainStore(db: Db): ExplainStore {
  return {
    names: (objects) => namesOf(db.query, objects),

    async personNamed(login) {
      const [row] = await db.query<{ id: bigint; name: string }>(PERSON, [nameKey(login)]);
      return row;
    },

    async robotNamed(organizationId, robot) {
      const [id, name] = 'id' in robot ? [robot.id, null] : [null, robot.name];
      const [row] = await db.query<{ id: bigint; name: string }>(ROBOT, [organizationId, id, name]);
      return row && { id: principalOfRobot(row.id), name: row.name };
    },

    async inactive(ids) {
      if (ids.length === 0) return new Set();
      return new Set((await db.query<{ id: bigint }>(INACTIVE, [ids])).map(({ id }) => id));
    },
  };
}

/** What objects such as `team:4` are called, also inside a transaction. */
export async function namesOf(query: Query, objects: readonly string[]): Promise<Names> {
  const byType = Map.groupBy(objects, (object) => object.slice(0, object.indexOf(':')));
  const asked = NAMED.filter(({ type }) => byType.has(type));
  if (asked.length === 0) return new Map();
  const ids = asked.map(({ type }) => (byType.get(type) ?? []).map((object) => BigInt(object.slice(type.length + 1))));
  const rows = await query<{ object: string; name: string }>(statementFor(asked), ids);
  return new Map(rows.map(({ object, name }) => [object, name]));
}

function statementFor(asked: typeof NAMED): Statement {
  // By their places in the list: all their names together are longer than the name of a statement can be.
  const types = asked.map((one) => NAMED.indexOf(one)).join('-');
  const known = statements.get(types);
  if (known) return known;
  const parts = asked.map(({ text }, place) => text(`$${place + 1}::bigint[]`));
  const made = sql(`explain.names:${types}`, parts.join(' union all '));
  statements.set(types, made);
  return made;
}
