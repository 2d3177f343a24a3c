import type { Answer } from '../../client/client.ts';
import { wordOf } from '../../client/object-kinds.ts';
import { command } from '../command.ts';
import { EXIT, rejected } from '../failure.ts';
import { AT, pastMoment, shortTime } from '../moments.ts';
import { findObject, type ObjectRef } from '../names.ts';
import { NAMESPACE } from '../namespace.ts';
import type { Shown, Style } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';
import { spanWithin } from '../request-text.ts';
import { plain } from '../text.ts';

type Explanation = Answer<'GET /authz/objects/{objectType}/{objID}/explain'>;

export const can = command({
  summary: 'check whether a user or a robot can do something, and why',
  details:
    'Exits 0 for yes and 1 for no, for use in scripts. Everything else, such as a mistyped name or a question that you ' +
    'may not ask, exits with 2. An object is a type and a name or ID.',
  exitIfRefused: EXIT.usage,
  args: {
    who: { about: 'a user, a robot such as robot:deploy, or me', kind: 'user' },
    relation: { about: 'action or relation, such as connect or can_connect', kind: 'relation' },
    object: { about: 'object, such as cluster:prod, team:7 or org:acme', kind: 'object' },
  },
  options: {
    why: { about: 'explain the answer in a sentence; if it is no, say what would make it a yes' },
    paths: { about: 'if the answer is yes, show all the ways' },
    ...NAMESPACE,
    ...AT,
  },
  examples: [
    'atrium can ann connect cluster:prod --why',
    'atrium can dan connect cluster:prod --paths',
    'atrium can me edit org:acme',
    'atrium can robot:deploy edit cluster:prod',
    'atrium can dan connect cluster:prod --namespace web',
    'atrium can bob connect cluster:prod --watch',
    'atrium can bob connect cluster:prod --at 7d --why',
    'atrium can dan view_orchestratorconfig cluster:prod --json',
  ],
  watch: {},
  async run(session, { args, options }): Promise<Shown> {
    const object = await findObject(session, args.object);
    const relation = relationNamed(args.relation);
    const user = args.who === 'me' ? undefined : args.who;
    const at = pastMoment(options.at, session.isWatching);
    const asked = session.client().call('GET /authz/objects/{objectType}/{objID}/explain', {
      path: { objectType: object.type, objID: object.id },
      query: {
        org: object.org,
        relation,
        user,
        at,
        namespace: options.namespace,
        ...(options.why && { remedies: true }),
        ...(options.paths && { paths: 'all' as const }),
      },
    });
    const answer = await orRelationHint(asked, relation, object);
    // A name was found before. An ID may be that of something that is gone, and then "no" would be read for ever.
    if (answer.found === false && object.name === String(object.id)) {
      throw rejected(`${object.type} does not exist, or you may not see it: ${object.id}`);
    }
    const where = options.namespace === undefined ? '' : ` in the namespace ${options.namespace}`;
    const subject = `${args.who === 'me' ? 'you' : args.who} ${relation} ${object.type}:${object.name}${where}`;
    return {
      data: answer,
      exit: answer.allowed ? 0 : EXIT.rejected,
      lay: (style) => [
        verdict(style, answer.allowed, subject),
        ...(options.why ? [`  ${plain(answer.sentence)}`, ...layRemedies(style, answer)] : []),
        ...(options.why ? askForIt(answer, object, relation, options.namespace) : []),
        ...(answer.at === undefined ? [] : [`  ${plain(sinceThen(answer))}`]),
        ...(options.paths ? layPaths(answer) : []),
      ],
    };
  },
});

/** When that was, whether it is so now, and how much has happened in between. */
function sinceThen({ at, allowed_now: now, changed_since: since }: Explanation): string {
  const changes = since && `${since.total} ${since.total === 1 ? 'change' : 'changes'} since`;
  return [`as of ${shortTime(at)}`, `now ${now ? 'yes' : 'no'}`, changes].filter(Boolean).join(', ');
}

/** What would make it a yes, what else that would give the user, and to how many other users. */
function layRemedies(style: Style, { allowed, remedies = [], remedies_note: note = '' }: Explanation): string[] {
  if (allowed) return [];
  const lines = remedies.map(
    ({ sentence, gains, others, reach, allowed: isAllowed, rejected_by: guardrail }, index) => {
      const more = gains === 0 ? 'nothing else' : `${gains} more ${gains === 1 ? 'permission' : 'permissions'}`;
      const people = others === 0 ? 'no other user' : `${others} other ${others === 1 ? 'user' : 'users'}`;
      const effect = [gains === 0 && reach ? [] : [more], reach || [], people].flat().join(', ');
      const obstacle = guardrail
        ? `; the guardrail ${guardrail.name} would reject it`
        : isAllowed
          ? ''
          : '; not by you';
      return `  ${index + 1}. ${plain(sentence)} ${style.dim(`(${plain(`${effect}${obstacle}`)})`)}`;
    },
  );
  return [
    ...(lines.length > 0 ? ['', 'how to allow it, the smallest change first:', ...lines] : []),
    ...(note ? [plain(note)] : []),
  ];
}

/** The command that asks for it, if the caller can: the server says so only of what callers may do themselves. */
function askForIt(
  { requestable }: Explanation,
  { type, name }: ObjectRef,
  relation: string,
  namespace: string | undefined,
): string[] {
  if (!requestable) return [];
  const where = namespace === undefined ? '' : ` --namespace ${namespace}`;
  const object = quoted(`${wordOf(type)}:${name}`);
  const verb = relation.replace(/^can_/, '');
  const span = spanWithin('4h', requestable.longest);
  return ['', plain(`ask for it: atrium request ${verb} ${object}${where} --for ${span} --because TEXT`)];
}

/** As a shell takes it. */
function quoted(text: string): string {
  return /^[\w:./@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** From the user to the object, over the rows of the database. */
function layPaths({ allowed, paths = [], more }: Explanation): string[] {
  if (!allowed) return [];
  const lines = paths.map((path, index) => {
    const rows = path.filter(({ tuple }) => tuple !== null).reverse();
    const names = [rows[0]?.subject_name ?? '', ...rows.map(({ name }) => name)];
    return `  ${index + 1}. ${plain([...new Set(names)].join(' → '))}`;
  });
  return ['', `ways (${paths.length}${more ? ' or more' : ''}):`, ...lines];
}

function verdict(style: Style, allowed: boolean, subject: string): string {
  return `${allowed ? style.good('yes') : style.bad('no')}  ${plain(subject)}`;
}
