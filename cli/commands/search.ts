import { OBJECT_KINDS, SEARCHED_TYPES } from '../../client/object-kinds.gen.ts';
import { command } from '../command.ts';
import { list } from '../output.ts';

const KINDS = SEARCHED_TYPES.map((type) => ({
  list: OBJECT_KINDS[type].plural,
  word: type === 'user' ? 'person' : OBJECT_KINDS[type].word,
}));
const LISTS = [...KINDS.map(({ list }) => list), 'installers'].join(', ');

export const search = command({
  summary: 'find anything that you may see by a part of its name',
  details: 'Shows at most 8 of each kind. Without --org, it looks into all your organizations.',
  args: { text: { about: 'part of the name, at most 64 characters' } },
  options: {
    types: { about: `what to look for, separated by commas: ${LISTS}`, value: 'TYPES' },
  },
  examples: ['atrium search prod', 'atrium search ann --types people,teams --org acme'],
  async run(session, { args, options }) {
    const found = await session.client().call('GET /search', {
      query: { q: args.text, org: session.orgOption, types: options.types },
    });
    const rows = KINDS.flatMap(({ list: kind, word }) =>
      found[kind].map(({ id, name, title, organization }) => ({
        ...{ kind: word, id: String(id), name },
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
