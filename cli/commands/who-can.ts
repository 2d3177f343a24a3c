import { command } from '../command.ts';
import { AT, pastMoment } from '../moments.ts';
import { all, findObject } from '../names.ts';
import { list } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';

export const whoCan = command({
  summary: 'list the users who can do something',
  args: {
    relation: { about: 'action or relation, such as connect or can_connect', kind: 'relation' },
    object: { about: 'object, such as cluster:prod, team:7 or org:acme', kind: 'object' },
  },
  options: { ...AT },
  examples: [
    'atrium who-can connect cluster:prod',
    'atrium who-can delete org:acme --json',
    'atrium who-can connect cluster:prod --at yesterday',
  ],
  watch: {},
  async run(session, { args, options }) {
    const object = await findObject(session, args.object);
    const relation = relationNamed(args.relation);
    const at = pastMoment(options.at, session.isWatching);
    const people = session.client().each('GET /authz/objects/{objectType}/{objID}/principals', {
      path: { objectType: object.type, objID: object.id },
      query: { org: object.org, relation, at },
    });
    const found = await orRelationHint(all(people), relation, object);
    return list(found, { name: (row) => row.name, id: (row) => row.id }, 'nobody');
  },
});
