import type { Answer } from '../../client/client.ts';
import { command } from '../command.ts';
import { marked } from '../marks.ts';
import { AT, pastMoment } from '../moments.ts';
import { all, findObject } from '../names.ts';
import { NAMESPACE } from '../namespace.ts';
import { type Columns, list } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';

export const whoCan = command({
  summary: 'list the users and robots that can do something',
  args: {
    relation: { about: 'action or relation, such as connect or can_connect', kind: 'relation' },
    object: { about: 'object, such as cluster:prod, team:7 or org:acme', kind: 'object' },
  },
  options: { reason: { about: 'show the teams and roles through which they can' }, ...NAMESPACE, ...AT },
  examples: [
    'atrium who-can connect cluster:prod',
    'atrium who-can connect cluster:prod --reason',
    'atrium who-can connect cluster:prod --namespace web',
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
      query: { org: object.org, relation, at, namespace: options.namespace, ...(options.reason && { reason: true }) },
    });
    const found = await orRelationHint(all(people), relation, object);
    const columns: Columns<(typeof found)[number]> = {
      name: (row) => marked(row),
      id: (row) => row.id,
      ...(options.reason && { through: (row: (typeof found)[number]) => (row.via ?? []).map(reasonName) }),
    };
    return list(found, columns, 'none');
  },
});

type Reason = NonNullable<Answer<'GET /authz/objects/{objectType}/{objID}/principals'>[number]['via']>[number];

/** What the caller may not see has no name. */
function reasonName({ kind, name }: Reason): string {
  if (kind === 'platform') return 'site administrators';
  if (kind === 'owner') return 'owner';
  return name === undefined ? `a ${kind} that you may not see` : `${kind} ${name}`;
}
