import { command } from '../command.ts';
import { misuse } from '../failure.ts';
import { all, OBJECT_WORDS } from '../names.ts';
import { objectType } from '../object-type.ts';
import { list } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';

export const listObjects = command({
  summary: 'list what a user or a robot can reach',
  details:
    'Lists the objects of one type in the organization on which a user or a robot may do something, as far as you may ' +
    'see them.',
  args: {
    who: { about: 'a user, a robot such as robot:deploy, or me', kind: 'user' },
    relation: { about: 'action or relation, such as connect or can_connect', kind: 'relation' },
    type: { about: `type of object: ${OBJECT_WORDS.join(', ')}` },
  },
  examples: [
    'atrium list-objects bob connect cluster',
    'atrium list-objects me edit team -o name',
    'atrium list-objects robot:deploy edit cluster',
  ],
  watch: {},
  async run(session, { args }) {
    if (args.type.includes(':'))
      throw misuse('TYPE is a type without a name, such as cluster; for one object use atrium can');
    const type: string = objectType(args.type);
    const relation = relationNamed(args.relation);
    const org = session.org();
    const found = session.client().each('GET /authz/objects/{objectType}', {
      path: { objectType: type },
      query: { org, relation, user: args.who === 'me' ? undefined : args.who },
    });
    const rows = await orRelationHint(all(found), relation, { type, id: 0n, name: '', org });
    return list(rows, { name: (row) => row.name, id: (row) => row.id }, 'nothing');
  },
});
