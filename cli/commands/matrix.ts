import type { AccessMatrix } from '../../client/api.gen.ts';
import { nameOfRelation } from '../../client/permissions.ts';
import { command } from '../command.ts';
import { marked } from '../marks.ts';
import { AT, pastMoment } from '../moments.ts';
import { idOf, OBJECT_WORDS } from '../names.ts';
import { objectType } from '../object-type.ts';
import type { Shown } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';
import { type Cell, layTable } from '../table.ts';

export const matrix = command({
  summary: 'show what people may do with objects, as a table',
  details:
    'Shows a line for each member of the organization and a column for each object of a type, as far as you may see ' +
    'them, all as of one moment.',
  args: { type: { about: `type of object: ${OBJECT_WORDS.join(', ')}` } },
  options: {
    team: { about: 'only the members of this team', value: 'TEAM', kind: 'team' },
    user: { about: 'only this user, or a robot such as robot:deploy', value: 'USER', kind: 'user', many: true },
    robots: { about: 'also show robots' },
    relation: {
      about: 'only this action or relation',
      value: 'RELATION',
      kind: 'relation',
      many: true,
    },
    differences: {
      about: 'leave out objects on which all users hold the same, and users who hold what most users hold',
    },
    ...AT,
  },
  examples: [
    'atrium matrix clusters',
    'atrium matrix clusters --relation connect --differences',
    'atrium matrix clusters --robots',
    'atrium matrix teams --team Editors -o csv',
    'atrium matrix clusters --at 2026-01-31',
  ],
  watch: { ignore: ['at'] },
  hasCsv: true,
  async run(session, { args, options }) {
    const org = session.org();
    const type = objectType(args.type);
    const relations = options.relation.map(relationNamed);
    const body = {
      type,
      ...(options.team !== undefined && { team: await idOf(session, 'team', options.team) }),
      ...(options.user.length > 0 && { users: options.user }),
      ...(options.robots && { robots: true }),
      ...(relations.length > 0 && { relations }),
      differences: options.differences,
    };
    const format = session.format === 'csv' ? 'csv' : 'json';
    const at = pastMoment(options.at, session.isWatching);
    const asked = session.client().call('POST /authz/matrix', { query: { org, format, at }, body });
    const answer: unknown = await orRelationHint(asked, relations[0] ?? '', { type, id: 0n, name: '', org });
    return typeof answer === 'string' ? { csv: answer, lay: () => [] } : shown(answer as AccessMatrix, type);
  },
});

function shown(found: AccessMatrix, type: string): Shown {
  const { users, objects, cells, left_out: leftOut } = found;
  const word = wordFor(type, found.relations);
  const rows = users.map((user, row) => [
    cell('USER', marked(user)),
    ...objects.map((object, column) => cell(object.name || String(object.id), word(cells[row]?.[column] ?? 0))),
  ]);
  const common = leftOut?.common ?? [];
  const others = objects.map((object, column) => cell(object.name, word(common[column] ?? 0)));
  const all = leftOut && leftOut.users > 0 ? [...rows, [cell('USER', `(${leftOut.users} others)`), ...others]] : rows;
  return {
    data: found,
    lay: (style) =>
      all.length === 0 || objects.length === 0
        ? [style.dim(leftOut ? 'no differences' : 'nothing')]
        : layTable(all, style.width, style.bold),
    names: users.map(({ name }) => name),
  };
}

/** What a cell says: yes or no about one relation, otherwise which are held. */
function wordFor(type: string, relations: readonly string[]): (held: number) => string {
  if (relations.length === 1) return (held) => (held === 1 ? 'yes' : 'no');
  const words = relations.map((relation) => nameOfRelation(type, relation));
  return (held) => words.filter((_, index) => Math.floor(held / 2 ** index) % 2 === 1).join(', ') || '-';
}

function cell(title: string, text: string): Cell {
  return { title, text, right: false };
}
