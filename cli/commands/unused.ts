import type { Answer } from '../../client/client.ts';
import { nameOfAction } from '../../client/permissions.ts';
import { wholeNumber } from '../changes.ts';
import { command } from '../command.ts';
import { misuse } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { type Columns, list } from '../output.ts';
import type { Session } from '../session.ts';

type Report = Answer<'GET /authz/unused'>;
type Unused = Report['items'][number];

const KINDS = ['membership', 'assignment', 'permission'] as const satisfies readonly Unused['kind'][];
const columns: Columns<Unused> = {
  kind: (row) => row.kind,
  who: (row) => row.to?.name,
  what: whatOf,
  'last used': (row) => row.last_used_on ?? 'never',
  since: (row) => shortTime(row.since),
  assignment: (row) => row.assignment_id,
};

function whatOf({ team, role, on, permission }: Unused): string {
  if (team) return `team ${team.name}`;
  if (permission) return `${nameOfAction(permission.action)}, in the role ${role?.name}`;
  const where = on && on.type !== 'organization' ? ` on ${on.name}` : '';
  return `role ${role?.name}${where}`;
}

export const unused = command({
  summary: 'list access that has not been used for some time',
  details:
    'Lists memberships, assignments and permissions of roles that made no difference to anything that was allowed. All ' +
    'of them can be ended together, and everything that was used would still be allowed. atrium review start --unused ' +
    'reviews them.',
  options: {
    days: { about: 'for how many days; 90 by default, and 0 for everything with its last use', value: 'DAYS' },
    kind: { about: 'only membership, assignment or permission', value: 'KIND' },
  },
  examples: ['atrium unused', 'atrium unused --days 30 --kind assignment'],
  watch: {},
  async run(session: Session, { options }) {
    const kind = KINDS.find((one) => one === options.kind);
    if (options.kind !== undefined && kind === undefined) throw misuse(`--kind must be one of ${KINDS.join(', ')}`);
    const query = { org: session.org(), days: wholeNumber(options.days, '--days'), kind, limit: 50 };
    const first = await session.client().request('GET /authz/unused', { query });
    const items = [...first.data.items];
    let next = first.nextPage;
    while (next !== undefined) {
      const page = await session.client().request('GET /authz/unused', { query: { ...query, page: next } });
      items.push(...page.data.items);
      next = page.nextPage;
    }
    const known = `uses are known only since ${shortTime(first.data.tracked_since)}: ask about fewer --days`;
    return list(items, columns, first.data.complete ? 'none' : known);
  },
});
