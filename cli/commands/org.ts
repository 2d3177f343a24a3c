import type { Answer, Item } from '../../client/client.ts';
import type { Args, Values } from '../arguments.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { EXPIRY, expiryColumn, expiryOf, untilWords } from '../expiry.ts';
import { marked } from '../marks.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, list, one, said } from '../output.ts';
import { forecastOf, impactOf, PREVIEW } from '../preview.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';
import { showMember } from './org-member.ts';
import { orgSecondFactor } from './org-second-factor.ts';

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

type Overview = Answer<'GET /orgs/{org}/overview'>;

function unusedText({ memberships, assignments, days }: NonNullable<Overview['unused_access']>): string {
  return `${memberships} memberships, ${assignments} assignments, in ${days} days`;
}

/** Only what the answer contains: the rest is not for this caller. */
function overviewOf(overview: Overview): Columns<Overview> {
  const { tokens, clusters, contracts, expiring, unused_access: unused, last_change, ...counts } = overview;
  const phases = Object.entries(clusters?.by_phase ?? {}).filter(([, count]) => count > 0);
  const lines: Readonly<Record<string, string | undefined>> = {
    ...Object.fromEntries(Object.entries(counts).map(([title, count]) => [title, String(count)])),
    tokens: tokens && `${tokens.all} (${tokens.expiring} expire soon, ${tokens.unused} unused)`,
    clusters: clusters && [clusters.all, ...phases.map(([phase, count]) => `${count} ${phase}`)].join(', '),
    contracts: contracts && `${contracts.all} (${contracts.ending} end soon)`,
    'expire soon': expiring && `${expiring.memberships} memberships, ${expiring.assignments} roles of teams`,
    // As long as uses are not known for so many days, there is nothing to say.
    'unused access': unused?.complete ? unusedText(unused) : undefined,
    'last change': last_change && `${shortTime(last_change.at)} ${last_change.action} by ${last_change.actor.name}`,
  };
  const shown = Object.entries(lines).filter(([, text]) => text !== undefined);
  return Object.fromEntries(shown.map(([title, text]) => [title, () => text]));
}

/** The first organization becomes that of the context, so that the next command needs no --org. */
function selected(session: Session, name: string): string {
  const current = session.context();
  if (current === undefined) return `to work in ${name}, add --org ${name}, or set ATRIUM_ORG`;
  if (session.orgIfAny() !== undefined) {
    return `to work in ${name}, add --org ${name}, or run atrium context use ${current.name} --org ${name}`;
  }
  const config = session.config();
  const contexts = { ...config.contexts, [current.name]: { ...current.context, org: name } };
  session.saveConfig({ ...config, contexts });
  return `the context ${current.name} now uses the organization ${name}`;
}

const orgOf = (session: Session, given: string | undefined) => given ?? session.org();

export const org: Group = {
  summary: 'manage organizations and their members',
  commands: {
    list: command({
      summary: 'list your organizations; for site administrators, all organizations',
      examples: ['atrium org list', 'atrium org list --json'],
      watch: {},
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
      watch: {},
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        return one(await session.client().call('GET /orgs/{org}', { path }), fields);
      },
    }),
    overview: command({
      summary: 'show what an organization has, in numbers, as far as you may see it',
      args: { org: org_ },
      examples: ['atrium org overview acme'],
      watch: {},
      async run(session, { args }) {
        const path = { org: orgOf(session, args.org) };
        const found = await session.client().call('GET /orgs/{org}/overview', { path });
        return one(found, overviewOf(found));
      },
    }),
    create: command({
      summary: 'create an organization, with you as its owner',
      details: 'If the context has no organization yet, the new one becomes its organization.',
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
        session.screen.note(selected(session, made.username));
        return one(made, fields);
      },
    }),
    edit: command({
      summary: 'change an organization; only the given fields change',
      args: { org: org_ },
      details: 'Only owners can change the name. The old one stays reserved for the organization for 90 days.',
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
      summary: 'list the members of an organization, with their teams',
      args: { org: org_ },
      options: {
        search: { about: 'only members with this text in their login, full name or email', value: 'TEXT' },
        team: { about: 'only members of this team', value: 'TEAM', kind: 'team' },
        sort: { about: 'what to sort by; by default the ID', value: 'WHAT', choices: ['name', 'joined'] },
      },
      examples: ['atrium org members acme', 'atrium org members acme --team Editors --sort joined'],
      watch: {},
      async run(session, { args, options }) {
        const path = { org: orgOf(session, args.org) };
        const query = { q: options.search, team: options.team, sort: options.sort };
        const found = await all(session.client().each('GET /orgs/{org}/members', { path, query }));
        const columns: Columns<Item<'GET /orgs/{org}/members'>> = {
          login: (row) => marked({ name: row.login, ...row }),
          name: (row) => row.full_name,
          teams: (row) => row.teams.map(({ name }) => name),
          joined: (row) => shortTime(row.joined_at),
          ...expiryColumn(found),
        };
        return list(found, columns, 'none');
      },
    }),
    'show-member': showMember,
    'add-member': command({
      summary: 'add a user to the organization, or change when a membership ends',
      args: { user },
      options: {
        team: { about: 'team to add the user to; by default Viewers', value: 'TEAM', kind: 'team' },
        ...EXPIRY,
        ...PREVIEW,
      },
      examples: [
        'atrium org add-member eve --org acme',
        'atrium org add-member eve --team Editors --expires 30d',
        'atrium org add-member eve --team Editors --preview',
      ],
      async run(session, { args, options }) {
        const path = { org: session.org(), username: args.user };
        const body = { team: options.team, ...expiryOf(options) };
        if (options.preview) {
          return await impactOf(session, [{ action: 'member.add', username: args.user, ...body }]);
        }
        await session.client().call('PUT /orgs/{org}/members/{username}', { path, body });
        const where = options.team ? `, in the team ${options.team}` : '';
        return said(`${args.user} is a member of ${path.org}${where}${untilWords(body)}`);
      },
    }),
    'remove-member': command({
      summary: 'remove a user from the organization and all its teams',
      args: { user },
      options: {
        orphan: { about: 'leave even as the last owner; site administrators then manage the organization' },
        ...PREVIEW,
      },
      examples: [
        'atrium org remove-member eve --org acme --yes',
        'atrium org remove-member eve --org acme --preview',
        'atrium org remove-member ann --orphan --yes',
      ],
      async run(session, { args, options }) {
        const path = { org: session.org(), username: args.user };
        if (options.preview) {
          const change = { action: 'member.remove', username: args.user, orphan: options.orphan } as const;
          return await impactOf(session, [change]);
        }
        await confirm(session, `Remove ${args.user} from ${path.org} and all its teams?`);
        const query = options.orphan ? { orphan: true } : {};
        await session.client().call('DELETE /orgs/{org}/members/{username}', { path, query });
        return said(`${args.user} is no longer a member of ${path.org}`);
      },
    }),
    'second-factor': orgSecondFactor,
    forecast: command({
      summary: 'show which access will expire',
      options: { until: { about: 'up to this moment, such as 7d or 2027-01-31; by default 30d', value: 'WHEN' } },
      examples: ['atrium org forecast', 'atrium org forecast --until 7d --org acme'],
      async run(session, { options }) {
        return await forecastOf(session, momentIn(options.until ?? '30d', 1));
      },
    }),
    'reserved-names': command({
      summary: 'list names reserved for renamed or deleted accounts, for site administrators',
      examples: ['atrium org reserved-names'],
      async run(session) {
        const columns: Columns<Item<'GET /admin/reserved-names'>> = {
          name: (row) => row.name,
          type: (row) => row.account.type,
          account: (row) => row.account.username || `${row.account.id} (deleted)`,
          until: (row) => row.expires_at,
        };
        return list(await all(session.client().each('GET /admin/reserved-names')), columns, 'none');
      },
    }),
    'release-name': command({
      summary: 'release a reserved name, so that anyone can take it; for site administrators',
      args: { name: { about: 'the reserved name' } },
      examples: ['atrium org release-name acme --yes'],
      async run(session, { args }) {
        await confirm(session, `Release the name ${args.name}, so that anyone can take it?`);
        await session.client().call('DELETE /admin/reserved-names/{name}', { path: { name: args.name } });
        return said(`${args.name} is no longer reserved`);
      },
    }),
  },
};
