import type { Answer } from '../../client/client.ts';
import { wholeNumber } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse, rejected } from '../failure.ts';
import { shortTime } from '../moments.ts';
import { readObject } from '../object-text.ts';
import { type Columns, list, one, said } from '../output.ts';
import { relationNamed } from '../relation.ts';
import type { Session } from '../session.ts';
import { didYouMean } from '../suggest.ts';
import { confirm } from '../terminal.ts';

type Guardrail = Answer<'GET /authz/guardrails/{id}'>;

const guardrail_ = { about: 'name or ID of the guardrail' } as const;
const columns: Columns<Guardrail> = {
  id: (row) => row.id,
  name: (row) => row.name,
  state: stateOf,
  statement: (row) => row.sentence,
};
const fields: Columns<Guardrail> = {
  id: (row) => row.id,
  name: (row) => row.name,
  description: (row) => row.description,
  statement: (row) => row.sentence,
  enforced: (row) => (row.enforce ? 'yes' : 'no, only watched'),
  state: stateOf,
  'violated by': (row) => row.state.violated_by.map(({ user }) => user.name),
  created: (row) => shortTime(row.created_at),
  updated: (row) => shortTime(row.updated_at),
};

function stateOf({ state }: Guardrail): string {
  if (!state.holds) return state.total > 0 ? `violated by ${state.total}` : `violated: only ${state.count ?? 0}`;
  return state.vacuous ? 'holds, matches no user' : 'holds';
}

async function find(session: Session, text: string): Promise<Guardrail> {
  const query = { org: session.org() };
  const all = await session.client().call('GET /authz/guardrails', { query });
  const found = all.find(({ id, name }) => String(id) === text || name.toLowerCase() === text.toLowerCase());
  if (found) return found;
  const names = all.map(({ name }) => name);
  throw rejected(`there is no guardrail named ${JSON.stringify(text)} in ${query.org}${didYouMean(text, names)}`);
}

export const guardrail: Group = {
  summary: 'manage statements about access that must stay true',
  commands: {
    list: command({
      summary: 'list the guardrails of the organization, and whether they hold',
      examples: ['atrium guardrail list --org acme'],
      watch: {},
      async run(session) {
        const query = { org: session.org() };
        return list(await session.client().call('GET /authz/guardrails', { query }), columns, 'none');
      },
    }),
    get: command({
      summary: 'show a guardrail, whether it holds, and who violates it',
      args: { guardrail: guardrail_ },
      examples: ['atrium guardrail get "eve stays out"'],
      watch: {},
      async run(session, { args }) {
        return one(await find(session, args.guardrail), fields);
      },
    }),
    create: command({
      summary: 'create a guardrail',
      details:
        'One of --never, --always, --at-least and --at-most says what must stay true. Without --object, it is about the ' +
        'organization; with a type alone, about every object of the type.',
      args: { name: { about: 'name of the guardrail' } },
      options: {
        never: { about: 'these users, and the members of the team, never can' },
        always: { about: 'these users, and the members of the team, always can' },
        'at-least': { about: 'at least this many people can', value: 'NUMBER' },
        'at-most': { about: 'at most this many people can', value: 'NUMBER' },
        user: { about: 'a user', value: 'USER', many: true, kind: 'user' },
        team: { about: 'a team: all its members', value: 'TEAM', kind: 'team' },
        relation: { about: 'action or relation, such as connect', value: 'RELATION', kind: 'relation' },
        object: { about: 'object, such as cluster:prod, or a type, such as cluster', value: 'OBJECT', kind: 'object' },
        description: { about: 'why it is there', value: 'TEXT' },
        'watch-only': { about: 'do not reject changes that violate it' },
        'dry-run': { about: 'only show whether it would hold' },
      },
      examples: [
        'atrium guardrail create "eve stays out" --never --user eve --relation connect --object cluster:prod',
        'atrium guardrail create "no deletions" --never --team Contractors --relation remove --object cluster',
        'atrium guardrail create "two editors" --at-least 2 --relation edit_roles --dry-run',
      ],
      async run(session, { args, options }) {
        if (options.relation === undefined) throw misuse('missing option --relation RELATION');
        const relation = relationNamed(options.relation);
        const object = options.object === undefined ? undefined : readObject(options.object);
        const about = { users: [...options.user], team: options.team, relation, object };
        const counted = (text: string, option: string) => ({ count: wholeNumber(text, option) ?? 0, relation, object });
        const statements = {
          ...(options.never && { never: about }),
          ...(options.always && { always: about }),
          ...(options['at-least'] !== undefined && { at_least: counted(options['at-least'], '--at-least') }),
          ...(options['at-most'] !== undefined && { at_most: counted(options['at-most'], '--at-most') }),
        };
        if (Object.keys(statements).length !== 1) {
          throw misuse('use exactly one of --never, --always, --at-least and --at-most');
        }
        const body = {
          name: args.name,
          description: options.description,
          enforce: options['watch-only'] ? false : undefined,
          ...statements,
        };
        const query = { org: session.org(), dry_run: options['dry-run'] || undefined };
        return one(await session.client().call('POST /authz/guardrails', { query, body }), fields);
      },
    }),
    delete: command({
      summary: 'delete a guardrail',
      args: { guardrail: guardrail_ },
      examples: ['atrium guardrail delete "eve stays out" --yes'],
      async run(session, { args }) {
        const { id, name } = await find(session, args.guardrail);
        await confirm(session, `Delete the guardrail ${name}?`);
        await session.client().call('DELETE /authz/guardrails/{id}', { path: { id }, query: { org: session.org() } });
        return said(`deleted the guardrail ${name}`);
      },
    }),
  },
};
