import type { Answer } from '../../client/client.ts';
import { wordOf } from '../../client/object-kinds.ts';
import { ORGANIZATION, placeText } from '../assignment-text.ts';
import { command, type Group } from '../command.ts';
import { expiryColumn } from '../expiry.ts';
import { misuse } from '../failure.ts';
import { AT, pastMoment, shortTime } from '../moments.ts';
import { findResource, idOf, namesById } from '../names.ts';
import { type Columns, list, one, type Shown, said } from '../output.ts';
import { permissionName, readPermissions } from '../permissions.ts';
import { impactOf, PREVIEW } from '../preview.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';
import { roleAssign, roleUnassign } from './role-assign.ts';
import { roleApply, roleExport } from './role-code.ts';

type Role = Answer<'GET /authz/roles/{id}'>;

const role_ = { about: 'name or ID of the role', kind: 'role' } as const;
const permission = { value: 'PERMISSION', many: true } as const;
const team = { value: 'TEAM', many: true, kind: 'team' } as const;

/** A role as people read it, with the names of its teams. */
async function shownRole(session: Session, role: Role): Promise<Shown> {
  const teams = await namesById(session, 'team', role.team_ids);
  return one(role, {
    id: (row) => row.id,
    name: (row) => row.name,
    description: (row) => row.description,
    permissions: (row) => row.permissions.map(permissionName).join('\n'),
    teams: () => teams,
    created: (row) => shortTime(row.created_at),
    updated: (row) => shortTime(row.updated_at),
  });
}

async function teamIds(session: Session, names: readonly string[]): Promise<bigint[]> {
  return await Promise.all(names.map((name) => idOf(session, 'team', name)));
}

export const role: Group = {
  summary: 'manage custom roles, also as code',
  commands: {
    list: command({
      summary: 'list the custom roles of the organization',
      options: { ...AT },
      examples: ['atrium role list --org acme', 'atrium role list --at 2026-01-31T12:00:00Z'],
      watch: {},
      async run(session, { options }) {
        const query = { org: session.org(), at: pastMoment(options.at, session.isWatching) };
        const roles = await session.client().call('GET /authz/roles', { query });
        const isCounted = roles.some(({ people }) => people !== undefined);
        const columns: Columns<Role> = {
          id: (row) => row.id,
          name: (row) => row.name,
          permissions: (row) => row.permissions.length,
          teams: (row) => row.team_ids.length,
          ...(isCounted && { people: (row: Role) => row.people }),
          description: (row) => row.description,
        };
        return list(roles, columns, 'none');
      },
    }),
    permissions: command({
      summary: 'list the permissions that a role can contain',
      examples: ['atrium role permissions'],
      async run(session) {
        const query = { org: session.org() };
        const { permissions } = await session.client().call('GET /authz/roles/available_permissions', { query });
        return list(permissions, { permission: permissionName, meaning: (row) => row.description }, 'none');
      },
    }),
    show: command({
      summary: 'show a role',
      args: { role: role_ },
      options: { ...AT },
      examples: [
        'atrium role show cluster-operator',
        'atrium role show 7 --yaml',
        'atrium role show cluster-operator --at 7d',
      ],
      watch: {},
      async run(session, { args, options }) {
        const query = { org: session.org(), at: pastMoment(options.at, session.isWatching) };
        const path = { id: await idOf(session, 'role', args.role, query.at) };
        return await shownRole(session, await session.client().call('GET /authz/roles/{id}', { path, query }));
      },
    }),
    who: command({
      summary: 'list the teams, users and robots that have a role, and on what',
      args: { role: role_ },
      examples: ['atrium role who cluster-operator'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'role', args.role) };
        const query = { org: session.org() };
        const found = await session.client().call('GET /authz/roles/{id}/principals', { path, query });
        const columns: Columns<(typeof found)[number]> = {
          type: (row) => wordOf(row.type),
          name: (row) => row.display_name,
          ...(found.some(({ on }) => on) && {
            on: ({ on }: (typeof found)[number]) => (on ? placeText(on) : ORGANIZATION),
          }),
          since: (row) => shortTime(row.assigned_at),
          ...expiryColumn(found),
        };
        return list(found, columns, 'none');
      },
    }),
    create: command({
      summary: 'create a role',
      args: { name: { about: 'name of the role' } },
      options: {
        description: { about: 'what it is for', value: 'TEXT' },
        permission: { ...permission, about: 'permission that it contains; see atrium role permissions' },
        team: { ...team, about: 'team to assign it to' },
        ...PREVIEW,
      },
      examples: [
        'atrium role create auditor --permission "view audit log" --permission "view members" --team operators',
      ],
      async run(session, { args, options }) {
        const body = {
          name: args.name,
          description: options.description,
          permissions: await readPermissions(session, options.permission),
          teamIDs: await teamIds(session, options.team),
        };
        if (options.preview) return await impactOf(session, [{ action: 'role.create', role: body }]);
        const query = { org: session.org() };
        return await shownRole(session, await session.client().call('POST /authz/roles', { query, body }));
      },
    }),
    edit: command({
      summary: 'change a role',
      details: 'Only the given fields change. If another user changes the role in the meantime, nothing is changed.',
      args: { role: role_ },
      options: {
        name: { about: 'new name', value: 'NAME' },
        description: { about: 'new description', value: 'TEXT' },
        add: { ...permission, about: 'permission to add' },
        remove: { ...permission, about: 'permission to remove' },
        'add-team': { ...team, about: 'team to assign it to' },
        'remove-team': { ...team, about: 'team to take it from' },
        ...PREVIEW,
      },
      examples: [
        'atrium role edit auditor --add "view teams" --remove "view members"',
        'atrium role edit auditor --add "view teams" --preview',
        'atrium role edit auditor --name inspector --add-team operators',
      ],
      async run(session, { args, options }) {
        const { preview, ...fieldsGiven } = options;
        const given = Object.values(fieldsGiven).some((value) => (Array.isArray(value) ? value.length > 0 : value));
        if (!given) throw misuse('nothing to change; run atrium role edit --help');
        const [add, remove] = await Promise.all([
          readPermissions(session, options.add),
          readPermissions(session, options.remove),
        ]);
        const [addTeams, removeTeams] = await Promise.all([
          teamIds(session, options['add-team']),
          teamIds(session, options['remove-team']),
        ]);
        const at = { path: { id: await idOf(session, 'role', args.role) }, query: { org: session.org() } };
        const { data: now, etag } = await session.client().request('GET /authz/roles/{id}', at);
        const gone = new Set(remove.map(permissionName));
        const body = {
          name: options.name,
          description: options.description,
          permissions: [...now.permissions, ...add].filter((one) => !gone.has(permissionName(one))),
          teamIDs: [...now.team_ids, ...addTeams].filter((id) => !removeTeams.includes(id)),
        };
        if (preview) return await impactOf(session, [{ action: 'role.update', id: at.path.id, role: body }]);
        return await shownRole(
          session,
          await session.client().call('PUT /authz/roles/{id}', { ...at, ifMatch: etag, body }),
        );
      },
    }),
    delete: command({
      summary: 'delete a role',
      args: { role: role_ },
      options: PREVIEW,
      examples: ['atrium role delete auditor --yes', 'atrium role delete auditor --preview'],
      async run(session, { args, options }) {
        const { id, name } = await findResource(session, 'role', args.role);
        if (options.preview) return await impactOf(session, [{ action: 'role.delete', id }]);
        await confirm(session, `Delete the role ${name} of ${session.org()}?`);
        await session.client().call('DELETE /authz/roles/{id}', { path: { id }, query: { org: session.org() } });
        return said(`deleted the role ${name}`);
      },
    }),
    assign: roleAssign,
    unassign: roleUnassign,
    export: roleExport,
    apply: roleApply,
  },
};
