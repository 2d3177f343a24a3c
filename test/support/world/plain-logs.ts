import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInServer } from '../../../src/operations/server-commands.ts';
import type { Driver } from '../server/db.ts';
import { openTestServer, type TestServer } from '../server/server.ts';
import { statement } from '../server/statement.ts';
import { makeOrganization, makePerson } from './people.ts';
import { type PlainEntry, writePlainEntries } from './plain-entries.ts';

export type PlainLogs = Awaited<ReturnType<typeof openPlainLogs>>;

/** A server with logs of earlier releases, a folder for exports and archives, and what looks into both. */
export async function openPlainLogs(driver: Driver) {
  const atrium = await openTestServer({ driver });
  const folder = mkdtempSync(join(tmpdir(), 'atrium-plain-entries-'));
  return { atrium, folder, root, query, verify, command, exported, makeLog, placesOf, close };

  async function close(): Promise<void> {
    rmSync(folder, { recursive: true, force: true });
    await atrium.close();
  }

  function root(...send: Parameters<ReturnType<TestServer['as']>>) {
    return atrium.as('root')(...send);
  }

  function query<Row extends object>(text: string) {
    return atrium.instance.db.query<Row>(statement(text));
  }

  async function verify(log: string) {
    return (await root('GET', `/admin/audit/verify?from=beginning&org=${log}`)).body;
  }

  function command(...argv: string[]) {
    return runInServer(atrium.instance, { argv: ['audit', ...argv] }, () => undefined);
  }

  async function exported(log: string): Promise<string> {
    const path = join(folder, `${log}-${Math.random()}.ndjson`);
    writeFileSync(path, (await root('GET', `/admin/audit/export?org=${log}`)).text);
    return path;
  }

  /** A log with entries by and about a person and others; six of them identify the person. */
  async function makeLog() {
    const [person, owner] = [await makePerson(atrium), await makePerson(atrium)];
    const org = await makeOrganization(atrium, owner.name);
    const [found] = await query<{ id: bigint }>(`select id from account where name = '${org.name}'`);
    const organizationId = found?.id ?? 0n;
    const [his, hers] = [
      { id: BigInt(person.id), name: person.name },
      { id: BigInt(owner.id), name: owner.name },
    ];
    const role = { organizationId, action: 'role.update', object: ['role', 7n] } as const;
    const team = { organizationId, object: ['team', BigInt(org.team('Viewers'))] } as const;
    const member = { team: 'Viewers', userId: String(his.id), username: his.name };
    const entries: PlainEntry[] = [
      { ...role, actor: his, before: { name: 'a' }, after: { name: 'b' } },
      { ...role, actor: hers, after: { name: 'c' } },
      { ...team, action: 'team.add_member', actor: hers, after: member },
      { ...role, actor: { id: 1n, name: 'root' }, onBehalfOf: his, after: { name: 'd' } },
      { ...role, actor: his, onBehalfOf: hers, after: { name: 'e' } },
      {
        ...{ organizationId, action: 'invitation.create', object: ['invitation', 3n], actor: hers },
        after: {
          email: `${his.name}@example.com`,
          invitedBy: { type: 'user', id: String(hers.id), name: hers.name },
        },
      },
      {
        ...{ organizationId: 0n, action: 'user.create', object: ['user', his.id], actor: { id: 1n, name: 'root' } },
        after: { username: his.name, email: `${his.name}@example.com`, fullName: `Frieda ${his.name}` },
      },
    ];
    await query(`update email set address = '${his.name}@example.com' where account_id = ${his.id}`);
    const ids = await writePlainEntries(atrium, entries);
    const erase = async () => {
      const erased = await root('DELETE', `/admin/users/${person.name}?erase=true`);
      assert.equal(erased.status, 204, erased.text);
    };
    return { person, owner, org, organizationId, ids, erase };
  }

  /** Where in the database a text is left. The login is reserved for a while. */
  async function placesOf(text: string): Promise<string[]> {
    const columns = await query<{ name: string; column: string }>(
      `select c.table_name as name, c.column_name as column from information_schema.columns c
         join information_schema.tables t using (table_schema, table_name)
        where c.table_schema = 'public' and t.table_type = 'BASE TABLE' and c.table_name <> 'reserved_name'
          and c.data_type in ('text', 'json', 'jsonb', 'ARRAY', 'character varying')`,
    );
    const found: string[] = [];
    for (const { name, column } of columns) {
      const has = `strpos(lower("${column}"::text), lower('${text}')) > 0`;
      if ((await query(`select 1 from "${name}" where ${has} limit 1`)).length > 0) found.push(`${name}.${column}`);
    }
    return found;
  }
}
