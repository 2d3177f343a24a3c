import type { Item } from '../../client/client.ts';
import { command } from '../command.ts';
import { rejected } from '../failure.ts';
import { marked } from '../marks.ts';
import { shortTime } from '../moments.ts';
import { all } from '../names.ts';
import { type Columns, one } from '../output.ts';

type Member = Item<'GET /orgs/{org}/members'>;

/** One member, as the organization and its identity provider know them. */
export const showMember = command({
  summary: 'show a member, with what the identity provider says about their work',
  args: { user: { about: 'name of the user', kind: 'user' } },
  examples: ['atrium org show-member dan', 'atrium org show-member dan --org acme --json'],
  watch: {},
  async run(session, { args }) {
    const path = { org: session.org() };
    // A longer name may contain this one. By name, the exact one comes first of its kind.
    const query = { q: args.user, sort: 'name' } as const;
    const found = await all(session.client().each('GET /orgs/{org}/members', { path, query }));
    const member = found.find(({ login }) => login.toLowerCase() === args.user.toLowerCase());
    if (!member) throw rejected(`${args.user} is not a member of ${path.org}; see atrium org members ${path.org}`);
    return one(member, { ...FIELDS, ...workOf(member) });
  },
});

const FIELDS: Columns<Member> = {
  login: (row) => marked({ name: row.login, ...row }),
  name: (row) => row.full_name,
  email: (row) => row.email,
  teams: (row) => row.teams.map(({ name }) => name),
  joined: (row) => shortTime(row.joined_at),
  expires: (row) => (row.expires_at ? shortTime(row.expires_at) : 'never'),
  'managed by': (row) => (row.managed_by_scim ? 'SCIM' : 'the organization'),
};

const WORK: Columns<Member> = {
  title: (row) => row.title,
  department: (row) => row.department,
  manager: (row) => row.manager?.name ?? row.manager_name,
  'employee number': (row) => row.employee_number,
  'cost center': (row) => row.cost_center,
};

/** Only known fields. */
function workOf(member: Member): Columns<Member> {
  return Object.fromEntries(Object.entries(WORK).filter(([, show]) => show(member) !== undefined));
}
