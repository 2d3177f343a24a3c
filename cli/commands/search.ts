import { command } from '../command.ts';
import { list } from '../output.ts';

const KINDS = ['people', 'teams', 'roles', 'clusters', 'contracts', 'robots', 'organizations'] as const;
const WORDS: Readonly<Record<(typeof KINDS)[number], string>> = {
  people: 'person',
  teams: 'team',
  roles: 'role',
  clusters: 'cluster',
  contracts: 'contract',
  robots: 'robot',
  organizations: 'organization',
};

export const search = command({
  summary: 'find anything that you may see by a part of its name',
  details: 'Shows at most 8 of each kind. Without --org, it looks into all your organizations.',
  args: { text: { about: 'part of the name, at most 64 characters' } },
  options: {
    types: { about: `what to look for, separated by commas: ${KINDS.join(', ')}, installers`, value: 'TYPES' },
  },
  examples: ['atrium search prod', 'atrium search ann --types people,teams --org acme'],
  async run(session, { args, options }) {
    const found = await session.client().call('GET /search', {
      query: { q: args.text, org: session.orgOption, types: options.types },
    });
    const rows = KINDS.flatMap((kind) =>
      found[kind].map(({ id, name, title, organization }) => ({
        ...{ kind: WORDS[kind], id: String(id), name },
        ...(title !== undefined && { title }),
        ...(organization !== undefined && { organization }),
      })),
    );
    const installers = found.installers.map(({ id, marketplace, organization }) => ({
      ...{ kind: 'installer', id, name: id, title: marketplace },
      ...(organization !== undefined && { organization }),
    }));
    return list(
      [...rows, ...installers],
      {
        kind: (row) => row.kind,
        name: (row) => row.name,
        title: (row) => row.title,
        organization: (row) => row.organization,
        id: (row) => row.id,
      },
      'nothing that you may see is called that',
    );
  },
});
