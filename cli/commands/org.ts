import type { Answer } from '../../client/client.ts';
import type { Args, Values } from '../arguments.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { all } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

type Organization = Answer<'GET /orgs/{org}'>;

const org_ = {
  about: 'name of the organization; by default that of --org or the context',
  kind: 'org',
  optional: true,
} as const;
const user = { about: 'name of the user', kind: 'user' } as const;
const details = {
  'full-name': { about: 'display name', value: 'TEXT' },
  description: { about: 'description of the organization', value: 'TEXT' },
  website: { about: 'address of its website', value: 'URL' },
  location: { about: 'where it is located', value: 'TEXT' },
  visibility: { about: 'who can see it', value: 'WHO', choices: ['public', 'limited', 'private'] },
} as const;

const fields: Columns<Organization> = {
  id: (row) => row.id,
  name: (row) => row.username,
  'full name': (row) => row.full_name,
  description: (row) => row.description,
  website: (row) => row.website,
  location: (row) => row.location,
  visibility: (row) => row.visibility,
};

type Details = Values<Args, typeof details>['options'];

function bodyOf(options: Details) {
  const { 'full-name': full_name, description, website, location, visibility } = options;
  return { full_name, description, website, location, visibility };
}

const orgOf = (session: Session, given: string | undefined) => given ?? session.org();

export const org: Group = {
  summary: 'manage organizations and their members',
  commands: {
    list: command({
      summary: 'list your organizations; for site administrators, all organizations',
      examples: ['atrium org list', 'atrium org list --json'],
      async run(session) {
        const columns: Columns<Organization> = {
          id: (row) => row.id,
          name: (row) => row.username,
          'full name': (row) => row.full_name,
          visibility: (row) => row.visibility,
        };
        return list(await all(session.client().each('GET /orgs')), columns, 'none');
      },
    }),
    show: command({
      summary: 'show an organization',
      args: { org: org_ },
      examples: ['atrium org show acme'],
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        return one(await session.client().call('GET /orgs/{org}', { path }), fields);
      },
    }),
    create: command({
      summary: 'create an organization, with you as its owner',
      args: { name: { about: 'name of the organization' } },
      options: {
        ...details,
        owner: { about: 'for site administrators: the user who owns it', value: 'USER', kind: 'user' },
      },
      examples: ['atrium org create acme --full-name "Acme Corporation"', 'atrium org create initech --owner bob'],
      async run(session, { args, options }) {
        const body = { username: args.name, ...bodyOf(options) };
        const client = session.client();
        const made =
          options.owner === undefined
            ? await client.call('POST /orgs', { body })
            : await client.call('POST /admin/users/{username}/orgs', { path: { username: options.owner }, body });
        return one(made, fields);
      },
    }),
    edit: command({
      summary: 'change an organization; only the given fields change',
      args: { org: org_ },
      options: { name: { about: 'new name', value: 'NAME' }, ...details },
      examples: ['atrium org edit acme --description "Makes everything"', 'atrium org edit acme --name acme-inc'],
      async run(session, { args, options }) {
        const body = changesIn({ username: options.name, ...bodyOf(options) }, 'org edit');
        const path = { org: orgOf(session, args.org) };
        return one(await session.client().call('PATCH /orgs/{org}', { path, body }), fields);
      },
    }),
    delete: command({
      summary: 'delete an organization and everything it owns',
      args: { org: { about: 'name of the organization', kind: 'org' } },
      examples: ['atrium org delete initech --yes'],
      async run(session, { args }) {
        await confirm(session, `Delete the organization ${args.org}, its teams, its roles and everything it owns?`);
        await session.client().call('DELETE /orgs/{org}', { path: { org: args.org } });
        return said(`deleted ${args.org}`);
      },
    }),
    members: command({
      summary: 'list the members of an organization',
      args: { org: org_ },
      examples: ['atrium org members acme'],
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        const found = await all(session.client().each('GET /orgs/{org}/members', { path }));
        return list(found, { login: (row) => row.login, name: (row) => row.full_name }, 'none');
      },
    }),
    'add-member': command({
      summary: 'add a user to the organization',
      args: { user },
      options: { team: { about: 'team to add the user to; by default Viewers', value: 'TEAM', kind: 'team' } },
      examples: ['atrium org add-member eve --org acme', 'atrium org add-member eve --team Editors'],
      async run(session, { args, options }) {
        const path = { org: session.org(), username: args.user };
        await session.client().call('PUT /orgs/{org}/members/{username}', { path, body: { team: options.team } });
        return said(`${args.user} is a member of ${path.org}${options.team ? `, in the team ${options.team}` : ''}`);
      },
    }),
    'remove-member': command({
      summary: 'remove a user from the organization and all its teams',
      args: { user },
      options: { orphan: { about: 'leave even as the last owner; site administrators then manage the organization' } },
      examples: ['atrium org remove-member eve --org acme --yes', 'atrium org remove-member ann --orphan --yes'],
      async run(session, { args, options }) {
        const path = { org: session.org(), username: args.user };
        await confirm(session, `Remove ${args.user} from ${path.org} and all its teams?`);
        const query = options.orphan ? { orphan: true } : {};
        await session.client().call('DELETE /orgs/{org}/members/{username}', { path, query });
        return said(`${args.user} is no longer a member of ${path.org}`);
      },
    }),
  },
};
