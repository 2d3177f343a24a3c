import type { Answer } from '../../client/client.ts';
import { changesIn, listGiven } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { forEach, requireUsers } from '../each.ts';
import { EXPIRY, expiryColumn, expiryOf, untilWords } from '../expiry.ts';
import { marked } from '../marks.ts';
import { all, findResource, idOf, namesById } from '../names.ts';
import { type Columns, list, one, type Shown, said } from '../output.ts';
import { impactOf, PREVIEW } from '../preview.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

type Team = Answer<'GET /teams/{id}'>;

const team_ = { about: 'name or ID of the team', kind: 'team' } as const;
const users = { about: 'names of users', kind: 'user', many: true } as const;
const rolesArg = { about: 'names or IDs of roles', kind: 'role', many: true } as const;
const details = {
  description: { about: 'what it is for', value: 'TEXT' },
  permission: { about: 'access level of its members', value: 'LEVEL', choices: ['none', 'read', 'write', 'admin'] },
  unit: { about: 'unit that it works on', value: 'UNIT', many: true },
} as const;

/** A team as people read it, with the names of its roles. */
async function shownTeam(session: Session, team: Team): Promise<Shown> {
  const roles = await namesById(session, 'role', team.role_ids);
  return one(team, {
    id: (row) => row.id,
    name: (row) => row.name,
    organization: (row) => row.organization.username,
    permission: (row) => row.permission,
    description: (row) => row.description,
    ...(team.units.length > 0 && { units: (row: Team) => row.units }),
    roles: () => roles,
    members: (row) => row.member_count,
  });
}

export const team: Group = {
  summary: 'manage teams, their members and roles',
  commands: {
    list: command({
      summary: 'list the teams of the organization',
      examples: ['atrium team list --org acme'],
      watch: {},
      async run(session) {
        const columns: Columns<Team> = {
          id: (row) => row.id,
          name: (row) => row.name,
          permission: (row) => row.permission,
          members: (row) => row.member_count,
          roles: (row) => row.role_ids.length,
          description: (row) => row.description,
        };
        const path = { org: session.org() };
        return list(await all(session.client().each('GET /orgs/{org}/teams', { path })), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a team',
      args: { team: team_ },
      examples: ['atrium team show operators'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'team', args.team) };
        return await shownTeam(session, await session.client().call('GET /teams/{id}', { path }));
      },
    }),
    create: command({
      summary: 'create a team',
      args: { name: { about: 'name of the team' } },
      options: { ...details, ...PREVIEW },
      examples: ['atrium team create auditors --permission none --description "Looks, touches nothing"'],
      async run(session, { args, options }) {
        const { description, permission, unit } = options;
        const body = { name: args.name, description, permission, units: listGiven(unit) };
        if (options.preview) return await impactOf(session, [{ action: 'team.create', team: body }]);
        const path = { org: session.org() };
        return await shownTeam(session, await session.client().call('POST /orgs/{org}/teams', { path, body }));
      },
    }),
    edit: command({
      summary: 'change a team; only the given fields change',
      args: { team: team_ },
      options: { name: { about: 'new name', value: 'NAME' }, ...details, ...PREVIEW },
      examples: [
        'atrium team edit auditors --permission read',
        'atrium team edit auditors --permission read --preview',
      ],
      async run(session, { args, options }) {
        const { name, description, permission, unit } = options;
        const body = changesIn({ name, description, permission, units: listGiven(unit) }, 'team edit');
        const path = { id: await idOf(session, 'team', args.team) };
        if (options.preview) return await impactOf(session, [{ action: 'team.update', id: path.id, team: body }]);
        return await shownTeam(session, await session.client().call('PATCH /teams/{id}', { path, body }));
      },
    }),
    delete: command({
      summary: 'delete a team',
      args: { team: team_ },
      options: PREVIEW,
      examples: ['atrium team delete auditors --yes', 'atrium team delete auditors --preview'],
      async run(session, { args, options }) {
        const { id, name } = await findResource(session, 'team', args.team);
        if (options.preview) return await impactOf(session, [{ action: 'team.delete', id }]);
        await confirm(session, `Delete the team ${name}?`);
        await session.client().call('DELETE /teams/{id}', { path: { id } });
        return said(`deleted the team ${name}`);
      },
    }),
    members: command({
      summary: 'list the members of a team',
      args: { team: team_ },
      examples: ['atrium team members operators'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'team', args.team) };
        const found = await all(session.client().each('GET /teams/{id}/members', { path }));
        const columns: Columns<(typeof found)[number]> = {
          login: (row) => marked({ name: row.login, ...row }),
          name: (row) => row.full_name,
          ...expiryColumn(found),
        };
        return list(found, columns, 'none');
      },
    }),
    add: command({
      summary: 'add users to a team, or change when their memberships end',
      args: { team: team_, user: users },
      options: { ...EXPIRY, ...PREVIEW },
      examples: [
        'atrium team add operators dan cat',
        'atrium team add operators eve --expires 7d',
        'atrium team add operators dan cat --expires 7d --preview',
      ],
      async run(session, { args, options }) {
        const body = expiryOf(options);
        const id = await idOf(session, 'team', args.team);
        if (options.preview) {
          return await impactOf(
            session,
            args.user.map((username) => ({ action: 'team.add_member', id, username, ...body })),
          );
        }
        await requireUsers(session, args.user);
        await forEach(args.user, String, (username) =>
          session.client().call('PUT /teams/{id}/members/{username}', { path: { id, username }, body }),
        );
        return said(`added ${args.user.join(', ')} to ${args.team}${untilWords(body)}`);
      },
    }),
    remove: command({
      summary: 'remove users from a team',
      args: { team: team_, user: users },
      options: PREVIEW,
      examples: ['atrium team remove operators cat', 'atrium team remove operators cat --preview'],
      async run(session, { args, options }) {
        const id = await idOf(session, 'team', args.team);
        if (options.preview) {
          return await impactOf(
            session,
            args.user.map((username) => ({ action: 'team.remove_member', id, username })),
          );
        }
        await requireUsers(session, args.user);
        await forEach(args.user, String, (username) =>
          session.client().call('DELETE /teams/{id}/members/{username}', { path: { id, username } }),
        );
        return said(`removed ${args.user.join(', ')} from ${args.team}`);
      },
    }),
    roles: command({
      summary: 'list the custom roles of a team',
      args: { team: team_ },
      examples: ['atrium team roles operators'],
      watch: {},
      async run(session, { args }) {
        const path = { id: await idOf(session, 'team', args.team) };
        const found = await session.client().call('GET /teams/{id}/roles', { path });
        const columns: Columns<(typeof found)[number]> = {
          id: (row) => row.id,
          name: (row) => row.name,
          description: (row) => row.description,
          ...expiryColumn(found),
        };
        return list(found, columns, 'none');
      },
    }),
    grant: command({
      summary: 'grant custom roles to a team, or change when the team loses them',
      args: { team: team_, role: rolesArg },
      options: { ...EXPIRY, ...PREVIEW },
      examples: [
        'atrium team grant operators cluster-operator',
        'atrium team grant operators cluster-operator --expires 12h',
        'atrium team grant operators cluster-operator --preview',
      ],
      async run(session, { args, options }) {
        const body = expiryOf(options);
        const id = await idOf(session, 'team', args.team);
        const roles = await Promise.all(args.role.map((role) => findResource(session, 'role', role)));
        if (options.preview) {
          return await impactOf(
            session,
            roles.map((role) => ({ action: 'role.assign', id: role.id, team: id, ...body })),
          );
        }
        await forEach(
          roles,
          ({ name }) => name,
          (role) => session.client().call('PUT /teams/{id}/roles/{role}', { path: { id, role: role.id }, body }),
        );
        return said(`granted ${args.role.join(', ')} to ${args.team}${untilWords(body)}`);
      },
    }),
    revoke: command({
      summary: 'revoke custom roles from a team',
      args: { team: team_, role: rolesArg },
      options: PREVIEW,
      examples: [
        'atrium team revoke operators cluster-operator',
        'atrium team revoke operators cluster-operator --preview',
      ],
      async run(session, { args, options }) {
        const id = await idOf(session, 'team', args.team);
        const roles = await Promise.all(args.role.map((role) => findResource(session, 'role', role)));
        if (options.preview) {
          return await impactOf(
            session,
            roles.map((role) => ({ action: 'role.unassign', id: role.id, team: id })),
          );
        }
        await forEach(
          roles,
          ({ name }) => name,
          (role) => session.client().call('DELETE /teams/{id}/roles/{role}', { path: { id, role: role.id } }),
        );
        return said(`revoked ${args.role.join(', ')} from ${args.team}`);
      },
    }),
  },
};
