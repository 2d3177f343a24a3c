import { command, type Group } from '../command.ts';
import { EXIT, misuse } from '../failure.ts';
import { momentIn } from '../moments.ts';
import { all, findObject } from '../names.ts';
import { list, type Shown } from '../output.ts';
import { orRelationHint, relationNamed } from '../relation.ts';
import {
  COLUMNS,
  FOUND,
  REQUEST,
  type Request,
  requestOf,
  sentenceOf,
  shownRequest,
  spanIn,
  waitForDecision,
} from '../request-text.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';
import { approve, deny, requestRules } from './request-decisions.ts';

const ask = command({
  summary: 'ask for access that you lack, for a while',
  details:
    'An object is a type and a name or ID. The smallest change that helps is asked for, unless --remedy names another ' +
    'of those that atrium can … --why lists. If the same is asked for already, that request is shown. With --wait, exits ' +
    '0 if it is approved, and 1 if it is not.',
  args: {
    relation: { about: 'action or relation, such as connect or can_connect', kind: 'relation' },
    object: { about: 'object, such as cluster:prod, team:7 or org:acme', kind: 'object' },
  },
  options: {
    for: { about: 'how long you need it, such as 4h or 7d', value: 'SPAN' },
    until: { about: 'until when you need it, such as 2027-01-31 or 2027-01-31T18:00:00Z', value: 'WHEN' },
    because: { about: 'why you need it', value: 'TEXT' },
    namespace: { about: 'of a cluster: only in this Kubernetes namespace', value: 'NAME', many: true },
    remedy: { about: 'another way, by its number in atrium can … --why', value: 'NUMBER' },
    'break-glass': { about: 'in an emergency: take it now, for at most an hour; all owners are told' },
    wait: { about: 'wait until it is decided' },
  },
  examples: [
    'atrium request connect cluster:prod --for 4h --because INC-1234',
    'atrium request connect cluster:prod --for 4h --because INC-1234 --wait',
    'atrium request edit cluster:staging --until 2027-01-31 --because "the move to the new region"',
    'atrium request connect cluster:prod --for 30m --because "prod is down" --break-glass',
  ],
  async run(session, { args, options }): Promise<Shown> {
    const { for: span, until, because, namespace, remedy } = options;
    if (because === undefined) throw misuse('missing option --because TEXT, which tells the approvers why');
    if ((span === undefined) === (until === undefined)) throw misuse('use either --for SPAN or --until WHEN');
    if (remedy !== undefined && !/^[1-9]\d{0,3}$/.test(remedy)) throw misuse('--remedy needs a number, such as 2');
    const object = await findObject(session, args.object);
    const relation = relationNamed(args.relation);
    const body = {
      relation,
      object: { type: object.type, id: object.id },
      reason: because,
      ...(span !== undefined && { for: spanIn(span) }),
      ...(until !== undefined && { until: momentIn(until, 1) }),
      ...(namespace.length > 0 && { namespaces: [...namespace] }),
      // People count from 1, as atrium can … --why does.
      ...(remedy !== undefined && { remedy: Number(remedy) - 1 }),
      ...(options['break-glass'] && { break_glass: true }),
    };
    const asked = session.client().call('POST /authz/requests', { query: { org: object.org }, body });
    const made = await orRelationHint(asked, relation, object);
    if (!options.wait || made.state !== 'open') return shownRequest(made);
    session.screen.note(`waiting for a decision about ${made.id}: ${sentenceOf(made)}`);
    const decided = await waitForDecision(session, object.org, made);
    return { ...shownRequest(decided), exit: decided.state === 'approved' ? 0 : EXIT.rejected };
  },
});

export const request: Group = {
  summary: 'ask for access that you lack, and decide about what other users ask for',
  byDefault: 'list',
  otherwise: 'ask',
  commands: {
    ask,
    list: command({
      summary: 'list requests: your own, those that you can decide, and all if you can view the audit log',
      details:
        'Without --org, lists your own requests in all organizations, or with --for-me those that you can decide.',
      options: {
        'for-me': { about: 'only what you can decide' },
        state: { about: 'only in these states, such as open or approved,ended', value: 'STATES' },
        by: { about: 'only of this user or robot', value: 'USER', kind: 'user' },
      },
      examples: [
        'atrium request list',
        'atrium request list --for-me',
        'atrium request list --state open --by dan --org acme',
      ],
      watch: {},
      async run(session, { options }) {
        const { 'for-me': isForMe, state, by } = options;
        const org = session.orgIfAny();
        if (org === undefined && by !== undefined) throw misuse('--by needs --org ORG');
        const filter = { state, ...(isForMe && { for_me: true }) };
        const found = await all(
          org === undefined
            ? session.client().each('GET /user/requests', { query: filter })
            : session.client().each('GET /authz/requests', { query: { org, by, ...filter } }),
        );
        return list(found, org === undefined ? { organization: FOUND.organization, ...COLUMNS } : COLUMNS, 'none');
      },
    }),
    show: command({
      summary: 'show a request, what it would change, and who can decide it',
      args: { request: REQUEST },
      examples: ['atrium request show req_12'],
      watch: { ignore: ['digest'] },
      async run(session, { args }) {
        return shownRequest(await requestOf(session, args.request));
      },
    }),
    approve,
    deny,
    cancel: command({
      summary: 'cancel a request of yours that is not decided yet',
      args: { request: REQUEST },
      examples: ['atrium request cancel req_12'],
      run: async (session, { args }) => await decided(session, args.request, 'cancel'),
    }),
    end: command({
      summary: 'give back, or take away, what a request gave',
      args: { request: REQUEST },
      examples: ['atrium request end req_12 --yes'],
      async run(session, { args }) {
        const found = await requestOf(session, args.request);
        await confirm(session, `End the access of ${found.id}, ${sentenceOf(found)}?`);
        return await decided(session, args.request, 'end');
      },
    }),
    acknowledge: command({
      summary: 'acknowledge that a user took access without an approval; for owners',
      args: { request: REQUEST },
      examples: ['atrium request acknowledge req_12'],
      run: async (session, { args }) => await decided(session, args.request, 'acknowledge'),
    }),
    rules: requestRules,
  },
};

async function decided(session: Session, id: string, verb: 'cancel' | 'end' | 'acknowledge'): Promise<Shown> {
  const at = { path: { id }, query: { org: session.org() } };
  const answer: Request = await session.client().call(`POST /authz/requests/{id}/${verb}`, at);
  return shownRequest(answer);
}
