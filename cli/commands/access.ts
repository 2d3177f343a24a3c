import type { AccessGroupReason, AccessReason, UserAccess } from '../../client/api.gen.ts';
import type { Answer } from '../../client/client.ts';
import { wordOf } from '../../client/object-kinds.ts';
import { nameOfRelation } from '../../client/permissions.ts';
import { command } from '../command.ts';
import { marked } from '../marks.ts';
import { AT, pastMoment } from '../moments.ts';
import { objectType } from '../object-type.ts';
import type { Shown, Style } from '../output.ts';
import { type Cell, layTable } from '../table.ts';
import { plain } from '../text.ts';

/** A line of a group of objects names only the first of them. */
const SHOWN_OBJECTS = 5;
const MAX_LIMIT = 50;

export const access = command({
  summary: 'show everything that a user or a robot holds, and why',
  details:
    'Shows the teams and roles of a user in the organization, what they may do there, and through which team or role, ' +
    'as far as you may see it.',
  args: { who: { about: 'a user, a robot such as robot:deploy, or me', kind: 'user' } },
  options: { type: { about: 'only objects of this type, such as cluster', value: 'TYPE' }, ...AT },
  examples: [
    'atrium access bob',
    'atrium access me --type cluster',
    'atrium access dan --json teams,roles',
    'atrium access dan --at 7d',
    'atrium access robot:deploy',
  ],
  watch: { ignore: ['at'] },
  async run(session, { args, options }) {
    const org = session.org();
    const client = session.client();
    const username = args.who === 'me' ? nameOf(await client.call('GET /user')) : args.who;
    const type = options.type === undefined ? undefined : objectType(options.type);
    const found = await client.call('GET /authz/users/{username}/access', {
      path: { username },
      query: { org, type, limit: MAX_LIMIT, at: pastMoment(options.at, session.isWatching) },
    });
    // A user who asks about one type has no use for dozens of words about the organization.
    return shown(found, type === undefined ? org : undefined);
  },
});

/** As questions name them: a robot has no login name. */
function nameOf({ type, id, login }: Answer<'GET /user'>): string {
  return type === 4 ? `robot:${id}` : login;
}

function shown(found: UserAccess, org: string | undefined): Shown {
  return {
    data: found,
    lay: (style) => [
      ...(found.user.active === false ? [style.bad(plain(`${marked(found.user)}: every request is rejected`))] : []),
      `Teams: ${plain(namesOf(found.teams))}`,
      `Roles: ${plain(namesOf(found.roles))}`,
      ...table(rowsOf(found, org), style),
    ],
    names: [...found.teams, ...found.roles].map(({ name }) => plain(name)),
  };
}

function table(rows: readonly (readonly string[])[], style: Style): readonly string[] {
  if (rows.length === 0) return [style.dim('nothing else')];
  const titles = ['ON', 'THROUGH', 'MAY'];
  const cells = rows.map((row) => row.map((text, place): Cell => ({ title: titles[place] ?? '', text, right: false })));
  return layTable(cells, style.width, style.bold);
}

function rowsOf({ user, permissions, types }: UserAccess, org: string | undefined): string[][] {
  const isRobot = user.type === 'robot_ac';
  const byReason = Map.groupBy(org === undefined ? [] : permissions, ({ via }) => reasons(via, isRobot));
  return [
    ...byReason.entries().map(([via, held]) => [
      `org ${org}`,
      via,
      wordsOf(
        'organization',
        held.map(({ relation }) => relation),
      ),
    ]),
    ...types.flatMap(({ type, groups }) =>
      groups.map(({ relations, via, count, objects }) => {
        const names = objects.slice(0, SHOWN_OBJECTS).map(({ id, name }) => name || String(id));
        const more = count > names.length ? ', …' : '';
        return [
          `${count} ${countedWord(type, count)}: ${names.join(', ')}${more}`,
          reasons(via),
          wordsOf(type, relations),
        ];
      }),
    ),
  ];
}

function reasons(via: readonly (AccessReason | AccessGroupReason)[], isRobot = false): string {
  const words = via.map(({ kind, name }) =>
    kind === 'owner' ? 'owner' : kind === 'platform' ? 'site administrator' : `${kind} ${name}`,
  );
  if (words.length > 0) return words.join(', ');
  return isRobot ? 'robot of the organization' : '(hidden)';
}

function wordsOf(type: string, relations: readonly string[]): string {
  return relations.map((relation) => nameOfRelation(type, relation)).join(', ');
}

function countedWord(type: string, count: number): string {
  return count === 1 ? wordOf(type) : `${wordOf(type)}s`;
}

function namesOf(list: readonly { readonly name: string }[]): string {
  return list.length === 0 ? 'none' : list.map(({ name }) => name).join(', ');
}
