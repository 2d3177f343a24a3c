import { ApiError } from '../../client/errors.ts';
import {
  type Assignment,
  assignmentText,
  filterText,
  ORGANIZATION,
  PLACE_WORDS,
  PRINCIPAL_WORDS,
  placeText,
  principalText,
  type Reference,
  readPlace,
  readPrincipal,
  readRole,
} from '../assignment-text.ts';
import { command } from '../command.ts';
import { untilWords } from '../expiry.ts';
import { misuse, rejected } from '../failure.ts';
import { hoursIn, momentIn } from '../moments.ts';
import { all } from '../names.ts';
import { type Shown, said } from '../output.ts';
import { permissionName } from '../permissions.ts';
import type { Session } from '../session.ts';
import { plain } from '../text.ts';

const role = { about: 'name or ID of the role', kind: 'role' } as const;
const WHERE = {
  to: {
    about: `to whom: ${PRINCIPAL_WORDS.join(', ')} and a name or ID, such as user:dan`,
    value: 'WHOM',
    kind: 'principal',
  },
  on: {
    about: `on what: ${PLACE_WORDS.join(', ')}, such as cluster:prod; by default ${ORGANIZATION}`,
    value: 'OBJECT',
    kind: 'place',
  },
} as const;

/** The options of commands that say how long an assignment lasts, and why. */
export const TERM = {
  for: { about: 'how long it lasts, such as 4h or 7d', value: 'SPAN' },
  until: { about: 'when it ends, such as 2027-01-31 or 2027-01-31T18:00:00Z', value: 'WHEN' },
  'no-expiry': { about: 'it does not end by itself' },
  because: { about: 'why', value: 'TEXT' },
} as const;

interface TermValues {
  readonly for: string | undefined;
  readonly until: string | undefined;
  readonly 'no-expiry': boolean;
  readonly because: string | undefined;
}

/** Options that are not given are left out. */
export function termOf({ for: span, until, 'no-expiry': never, because }: TermValues): {
  expires_at?: string | null;
  reason?: string;
} {
  const [one, another] = Object.entries({ for: span, until, 'no-expiry': never || undefined }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`--${name}`]),
  );
  if (another !== undefined) throw misuse(`${another} cannot be combined with ${one}`);
  if (span !== undefined) hoursIn(span);
  const when = span ?? until;
  return {
    ...(when !== undefined && { expires_at: momentIn(when, 1) }),
    ...(never && { expires_at: null }),
    ...(because !== undefined && { reason: because }),
  };
}

function whereOf(options: { readonly to: string | undefined; readonly on: string | undefined }) {
  if (options.to === undefined) throw misuse('missing option --to WHOM, such as --to user:dan');
  return { to: readPrincipal(options.to), on: readPlace(options.on ?? ORGANIZATION) };
}

export const roleAssign = command({
  summary: 'assign a role to a user, a team or a robot, on the organization or on one object',
  details:
    'The role gives what it contains, as far as it concerns the object. If it is assigned there already, nothing is ' +
    'changed and the command exits 1; with --replace, the end and the reason change, as far as they are given.',
  args: { role },
  options: {
    ...WHERE,
    ...TERM,
    replace: { about: 'if it is assigned already, change its end and its reason' },
  },
  examples: [
    'atrium role assign cluster-operator --to user:dan --on cluster:prod --for 4h --because "on call"',
    'atrium role assign cluster-operator --to robot:deploy --on cluster_set:eu',
    'atrium role assign auditor --to team:operators --until 2036-01-31',
    'atrium role assign cluster-operator --to user:dan --on cluster:prod --for 8h --replace',
  ],
  async run(session, { args, options }) {
    const { to, on } = whereOf(options);
    const term = termOf(options);
    const query = { org: session.org() };
    const body = { role: readRole(args.role), to, ...(on && { on }), ...term };
    try {
      return done('assigned', await session.client().call('POST /authz/assignments', { query, body }));
    } catch (error) {
      const isThere = error instanceof ApiError && error.reason === 'already_assigned';
      if (!isThere) throw error;
      if (!options.replace) throw rejected(`${error.message}; with --replace, its end and its reason change`);
      const { id } = await find(session, args.role, to, on);
      const path = { id };
      return done('changed', await session.client().call('PATCH /authz/assignments/{id}', { path, query, body: term }));
    }
  },
});

export const roleUnassign = command({
  summary: 'end an assignment of a role',
  details: 'To end one by its ID, use atrium assignments delete.',
  args: { role },
  options: WHERE,
  examples: [
    'atrium role unassign cluster-operator --to user:dan --on cluster:prod',
    'atrium role unassign auditor --to team:operators',
  ],
  async run(session, { args, options }) {
    const { to, on } = whereOf(options);
    const found = await find(session, args.role, to, on);
    const query = { org: session.org() };
    await session.client().call('DELETE /authz/assignments/{id}', { path: { id: found.id }, query });
    return said(`unassigned ${found.role.name} from ${principalText(found.to)} on ${placeText(found.on)}`);
  },
});

/** The assignment with this role, to and on. */
async function find(session: Session, role: string, to: Reference, on: Reference | undefined): Promise<Assignment> {
  const where = on ? filterText(on) : ORGANIZATION;
  const query = { org: session.org(), role, to: filterText(to), on: where };
  const found = await all(session.client().each('GET /authz/assignments', { query }));
  const [one, another] = found;
  if (!one) {
    const whom = principalText({ type: to.type, name: to.name ?? String(to.id) });
    throw rejected(
      `${whom} does not have the role ${role} on ${where}; see atrium assignments --to ${whom} --role ${JSON.stringify(role)}`,
    );
  }
  if (another) {
    const ids = found.map(({ id }) => id).join(', ');
    throw rejected(`there are ${found.length} such assignments; use an ID with atrium assignments: ${ids}`);
  }
  return one;
}

/** What was done, and what it gives there. */
export function done(verb: string, assignment: Assignment): Shown {
  const { effective, without_effect: others } = assignment;
  const sentence = `${verb} ${assignmentText(assignment)}${untilWords(assignment)}`;
  return {
    ...said(sentence, assignment),
    lay: (style) => [
      plain(sentence),
      `  gives there: ${plain(effective.map(permissionName).join(', ') || 'nothing')}`,
      ...(others.length > 0
        ? [style.dim(`  without effect there: ${plain(others.map(permissionName).join(', '))}`)]
        : []),
    ],
  };
}
