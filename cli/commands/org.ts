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
  about: 'name of the organization; that of --org or the context unless said',
  kind: 'org',
  optional: true,
} as const;
const user = { about: 'name of the user', kind: 'user' } as const;
const details = {
  'full-name': { about: 'its name for people', value: 'TEXT' },
  description: { about: 'what it is', value: 'TEXT' },
  website: { about: 'its address on the web', value: 'URL' },
  location: { about: 'where it is', value: 'TEXT' },
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
  summary: 'organizations and their members',
  commands: {
    list: command({
      summary: 'the organizations that you are in; for site administrators all',
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
      summary: 'one organization',
      args: { org: org_ },
      examples: ['atrium org show acme'],
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        return one(await session.client().call('GET /orgs/{org}', { path }), fields);
      },
    }),
    create: command({
      summary: 'make an organization, with yourself as its owner',
      args: { name: { about: 'its name' } },
      options: {
        ...details,
        owner: { about: 'for site administrators: who is to own it', value: 'USER', kind: 'user' },
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
      summary: 'change an organization; what is not named stays',
      args: { org: org_ },
      options: { name: { about: 'a new name', value: 'NAME' }, ...details },
      examples: ['atrium org edit acme --description "Makes everything"', 'atrium org edit acme --name acme-inc'],
      async run(session, { args, options }) {
        const body = changesIn({ username: options.name, ...bodyOf(options) }, 'org edit');
        const path = { org: orgOf(session, args.org) };
        return one(await session.client().call('PATCH /orgs/{org}', { path, body }), fields);
      },
    }),
    delete: command({
      summary: 'delete an organization with all that it has',
      args: { org: { about: 'name of the organization', kind: 'org' } },
      examples: ['atrium org delete initech --yes'],
      async run(session, { args }) {
        await confirm(session, `Delete the organization ${args.org} with its teams, roles and everything it owns?`);
        await session.client().call('DELETE /orgs/{org}', { path: { org: args.org } });
        return said(`deleted ${args.org}`);
      },
    }),
    members: command({
      summary: 'the people of an organization',
      args: { org: org_ },
      examples: ['atrium org members acme'],
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        const found = await all(session.client().each('GET /orgs/{org}/members', { path }));
        return list(found, { login: (row) => row.login, name: (row) => row.full_name }, 'nobody');
      },
    }),
    'add-member': command({
      summary: 'bring somebody into the organization',
      args: { user },
      options: { team: { about: 'into which team; Viewers unless said', value: 'TEAM', kind: 'team' } },
      examples: ['atrium org add-member eve --org acme', 'atrium org add-member eve --team Editors'],
      async run(session, { args, options }) {
        const path = { org: session.org(), username: args.user };
        await session.client().call('PUT /orgs/{org}/members/{username}', { path, body: { team: options.team } });
        return said(`${args.user} is in ${path.org}${options.team ? `, in the team ${options.team}` : ''}`);
      },
    }),
    'remove-member': command({
      summary: 'take somebody out of the organization and all of its teams',
      args: { user },
      examples: ['atrium org remove-member eve --org acme --yes'],
      async run(session, { args }) {
        const path = { org: session.org(), username: args.user };
        await confirm(session, `Take ${args.user} out of ${path.org} and all of its teams?`);
        await session.client().call('DELETE /orgs/{org}/members/{username}', { path });
        return said(`${args.user} is no longer in ${path.org}`);
      },
    }),
  },
};
