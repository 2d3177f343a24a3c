import type { Answer, Item } from '../../client/client.ts';
import { nameOfRelation } from '../../client/permissions.ts';
import { wholeNumber } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all, readId } from '../names.ts';
import { readObject } from '../object-text.ts';
import { type Columns, list, one, type Shown, said } from '../output.ts';
import { relationNamed } from '../relation.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';

type Review = Item<'GET /authz/reviews'>;
type Full = Answer<'GET /authz/reviews/{id}'>;
type ReviewItem = Full['items'][number];

const review_ = { about: 'ID of the review' } as const;
const item_ = { about: 'ID of the item' } as const;
const COMMENT = { comment: { about: 'why', value: 'TEXT' } } as const;
const UNDECIDED = ['keep', 'end'] as const;

const columns: Columns<Review> = {
  id: (row) => row.id,
  name: (row) => row.name,
  about: (row) => row.about,
  state: (row) => row.state,
  open: (row) => row.counts.open,
  due: (row) => shortTime(row.due_at),
};
const itemColumns: Columns<ReviewItem> = {
  id: (row) => row.id,
  why: (row) => row.sentence,
  state: stateOf,
  by: (row) => row.decided_by?.name,
};

/** The object of an undecided item can be gone already. */
function stateOf({ state, present, rejection }: ReviewItem): string {
  if (state === 'rejected') return `rejected: ${rejection?.message ?? ''}`;
  return state === 'open' && !present ? 'open, but gone' : state;
}

function at(session: Session, review: string, item: string) {
  return { path: { id: readId(review), item: readId(item) }, query: { org: session.org() } };
}

async function shownReview(session: Session, text: string): Promise<Shown> {
  const input = { path: { id: readId(text) }, query: { org: session.org(), limit: 50 } };
  const first = await session.client().request('GET /authz/reviews/{id}', input);
  const items = [...first.data.items];
  let next = first.nextPage;
  while (next !== undefined) {
    const query = { ...input.query, page: next };
    const page = await session.client().request('GET /authz/reviews/{id}', { ...input, query });
    items.push(...page.data.items);
    next = page.nextPage;
  }
  const { counts, record } = first.data;
  const head = one(first.data, {
    id: (row) => row.id,
    name: (row) => row.name,
    about: (row) => row.about,
    state: (row) => row.state,
    items: () =>
      `${counts.open} open, ${counts.kept} kept, ${counts.ended} ended, ${counts.gone} gone, ${counts.rejected} rejected`,
    reviewers: (row) => (row.reviewers.length > 0 ? row.reviewers.map(({ name }) => name).join(', ') : 'the owners'),
    'if undecided': (row) => row.undecided,
    due: (row) => shortTime(row.due_at),
    ...(record && {
      record: () => record.sha256,
      verified: () => (record.verified ? 'yes, as in the audit log' : 'NO: the record was changed'),
    }),
  });
  const table = list(items, itemColumns, 'nothing to decide');
  return {
    data: { ...first.data, items },
    lay: (style) => [...(head.lay?.(style) ?? []), '', ...(table.lay?.(style) ?? [])],
  };
}

export const review: Group = {
  summary: 'review access: keep it or end it, with a record',
  commands: {
    start: command({
      summary: 'start a review of a question, as of now',
      details:
        'Use exactly one of --who-can, --team, --older-than and --unused. Reviewers are members; by default, the ' +
        'owners decide. What is not decided by the due date is kept, or ended with --end-undecided.',
      options: {
        name: { about: 'name of the review; by default, its question', value: 'TEXT' },
        'who-can': { about: 'who can do this on --object', value: 'RELATION', kind: 'relation' },
        object: { about: 'object of --who-can, such as cluster:prod', value: 'OBJECT', kind: 'object' },
        namespace: { about: 'of --who-can on a cluster: only in this namespace', value: 'NAMESPACE' },
        team: { about: 'members and assignments of this team', value: 'TEAM', kind: 'team' },
        'older-than': { about: 'tokens of robots that are older than so many days', value: 'DAYS' },
        unused: { about: 'access that was not used in so many days', value: 'DAYS' },
        reviewer: { about: 'who decides', value: 'USER', many: true, kind: 'user' },
        due: { about: 'when it is closed by itself, such as 30d; by default, 14d', value: 'WHEN' },
        'end-undecided': { about: 'end what is not decided by then' },
      },
      examples: [
        'atrium review start --who-can connect --object cluster:prod --reviewer ann --due 30d',
        'atrium review start --who-can connect --object cluster:prod --namespace shop',
        'atrium review start --team contractors --end-undecided',
        'atrium review start --older-than 90',
        'atrium review start --unused 90',
      ],
      async run(session, { options }) {
        const older = wholeNumber(options['older-than'], '--older-than');
        const unused = wholeNumber(options.unused, '--unused');
        const questions = [
          ...(options['who-can'] === undefined
            ? []
            : [
                {
                  kind: 'access' as const,
                  relation: relationNamed(options['who-can']),
                  object: options.object === undefined ? undefined : readObject(options.object),
                  namespace: options.namespace,
                },
              ]),
          ...(options.team === undefined ? [] : [{ kind: 'team' as const, team: teamOf(options.team) }]),
          ...(older === undefined ? [] : [{ kind: 'robot_tokens' as const, days: older }]),
          ...(unused === undefined ? [] : [{ kind: 'unused' as const, days: unused }]),
        ];
        const [question] = questions;
        if (!question || questions.length > 1) {
          throw misuse('use exactly one of --who-can, --team, --older-than and --unused');
        }
        if (options.object !== undefined && question.kind !== 'access') throw misuse('--object is for --who-can');
        if (options.namespace !== undefined && question.kind !== 'access') {
          throw misuse('--namespace is for --who-can');
        }
        const body = {
          name: options.name,
          question,
          reviewers: options.reviewer.length > 0 ? [...options.reviewer] : undefined,
          due_at: options.due === undefined ? undefined : momentIn(options.due, 1),
          undecided: options['end-undecided'] ? UNDECIDED[1] : undefined,
        };
        const made = await session.client().call('POST /authz/reviews', { query: { org: session.org() }, body });
        return said(`started the review ${made.id}, ${made.about}: ${made.counts.open} to decide`, made);
      },
    }),
    list: command({
      summary: 'list reviews, the newest first',
      options: { open: { about: 'only reviews that are not closed' } },
      examples: ['atrium review list', 'atrium review list --open'],
      watch: {},
      async run(session, { options }) {
        const query = { org: session.org(), state: options.open ? ('open' as const) : undefined };
        return list(await all(session.client().each('GET /authz/reviews', { query })), columns, 'none');
      },
    }),
    show: command({
      summary: 'show a review and what is to decide, or one item with what ending it would change',
      args: { review: review_, item: { ...item_, optional: true } },
      examples: ['atrium review show 3', 'atrium review show 3 17'],
      watch: {},
      async run(session, { args }) {
        if (args.item === undefined) return await shownReview(session, args.review);
        const found = await session
          .client()
          .call('GET /authz/reviews/{id}/items/{item}', at(session, args.review, args.item));
        const loses = found.impact?.users.map(({ user, loses: lost, more }) => {
          const texts = lost.map(({ object, relation }) => `${nameOfRelation(object.type, relation)} ${object.name}`);
          return `${user.name}: ${[...texts, ...(more > 0 ? [`${more} more`] : [])].join(', ')}`;
        });
        return one(found, {
          id: (row) => row.id,
          why: (row) => row.sentence,
          state: stateOf,
          ...(found.comment !== '' && { comment: (row: typeof found) => row.comment }),
          ...(found.cannot_end && { 'you cannot end it': (row: typeof found) => row.cannot_end?.message }),
          ...(found.impact && { 'if it ends, lost': () => (loses && loses.length > 0 ? loses : 'nothing') }),
        });
      },
    }),
    keep: command({
      summary: 'keep the access of an item',
      args: { review: review_, item: item_ },
      options: COMMENT,
      examples: ['atrium review keep 3 17 --comment "still on call"'],
      async run(session, { args, options }) {
        const input = { ...at(session, args.review, args.item), body: { comment: options.comment } };
        const found = await session.client().call('POST /authz/reviews/{id}/items/{item}/keep', input);
        return said(`${found.state}: ${found.sentence}`, found);
      },
    }),
    end: command({
      summary: 'end the access of an item',
      args: { review: review_, item: item_ },
      options: COMMENT,
      examples: ['atrium review end 3 17 --comment "moved to sales" --yes'],
      async run(session, { args, options }) {
        const where = at(session, args.review, args.item);
        const { sentence } = await session.client().call('GET /authz/reviews/{id}/items/{item}', where);
        await confirm(session, `End this access: ${sentence}?`);
        const input = { ...where, body: { comment: options.comment } };
        const found = await session.client().call('POST /authz/reviews/{id}/items/{item}/end', input);
        return said(`${found.state}: ${found.sentence}`, found);
      },
    }),
    close: command({
      summary: 'close a review: undecided items are kept or ended, as it says',
      args: { review: review_ },
      examples: ['atrium review close 3 --yes'],
      async run(session, { args }) {
        const input = { path: { id: readId(args.review) }, query: { org: session.org() } };
        const { counts, undecided, name } = await session.client().call('GET /authz/reviews/{id}', input);
        await confirm(
          session,
          `Close the review ${name}? ${counts.open} undecided will ${undecided === 'end' ? 'end' : 'stay'}.`,
        );
        const closed = await session.client().call('POST /authz/reviews/{id}/close', input);
        return said(`closed the review ${name}: ${closed.counts.kept} kept, ${closed.counts.ended} ended`, closed);
      },
    }),
    export: command({
      summary: 'print the record of a closed review byte for byte, or all items as CSV',
      details: 'The SHA-256 of the record is in the audit log, in the entry that closed the review.',
      args: { review: review_ },
      options: { csv: { about: 'CSV instead of the record' } },
      examples: ['atrium review export 3 > review.json', 'atrium review export 3 --csv > review.csv'],
      async run(session, { args, options }) {
        const input = { path: { id: readId(args.review) }, query: { org: session.org() } };
        const text: unknown = options.csv
          ? await session.client().call('GET /authz/reviews/{id}/csv', input)
          : await session.client().call('GET /authz/reviews/{id}/record', input);
        session.screen.writeDocument(String(text).trimEnd());
        return undefined;
      },
    }),
  },
};

function teamOf(text: string) {
  return /^\d+$/.test(text) ? { id: readId(text) } : { name: text };
}
