import Type from 'typebox';
import { ATTENTION_PHASES, PHASES } from '../clusters/cluster.ts';
import { callerIn, holdsIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { Int64, named, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { ShownActor, showActor } from '../http/wire/shown-actor.ts';
import {
  type GetOverview,
  type Overview as OverviewValue,
  type Part,
  PLAIN_LISTS,
  type PlainList,
  SOON_DAYS,
  UNUSED_DAYS,
} from './overview.ts';

const count = (description: string) => Type.Integer({ description });

const EndingDay = named(
  'EndingDay',
  Type.Object(
    { day: Type.String({ description: 'A day of UTC, such as 2026-11-20.' }), count: count('How many end on it.') },
    { description: 'How many of something end on one day.' },
  ),
);

const days = (what: string) =>
  Type.Array(EndingDay, {
    description: `On which days of the next ${SOON_DAYS} ${what}. Days without any are left out.`,
  });

type WirePart = Exclude<Part, 'lastChange' | 'unusedAccess'> | 'last_change' | 'unused_access';

const Overview = named(
  'Overview',
  Type.Object({
    members: Type.Optional(Type.Integer()),
    owners: Type.Optional(count('Members of the teams of owners.')),
    ...(Object.fromEntries(PLAIN_LISTS.map(({ list }) => [list, Type.Optional(Type.Integer())])) as Record<
      PlainList,
      Type.TOptional<Type.TInteger>
    >),
    tokens: Type.Optional(
      Type.Object({
        all: count('All tokens of robot accounts.'),
        expiring: count(`Valid tokens that expire within ${SOON_DAYS} days.`),
        unused: count(`Valid tokens that were not used for ${UNUSED_DAYS} days, or were never used since then.`),
        days: days('valid tokens expire'),
      }),
    ),
    clusters: Type.Optional(
      Type.Object({
        all: Type.Integer(),
        attention: count('Those that need attention: NotReady, NotConnected or Lost.'),
        by_phase: Type.Object(Object.fromEntries(PHASES.map((phase) => [phase, Type.Integer()]))),
      }),
    ),
    contracts: Type.Optional(
      Type.Object({
        all: Type.Integer(),
        ending: count(`Contracts that are not revoked and end within ${SOON_DAYS} days.`),
        days: days('contracts that are not revoked end'),
      }),
    ),
    guardrails: Type.Optional(count('Guardrails, whether they hold or not.')),
    assignments: Type.Optional(count('Assignments of roles, to teams, users and robots.')),
    expiring: Type.Optional(
      Type.Object({
        memberships: count(`Memberships of teams that expire within ${SOON_DAYS} days.`),
        assignments: count(`Assignments of roles that expire within ${SOON_DAYS} days.`),
        days: Type.Object(
          { memberships: days('memberships expire'), assignments: days('assignments expire') },
          { description: 'The same by day.' },
        ),
      }),
    ),
    unused_access: Type.Optional(
      Type.Object({
        days: count('For how many days they were not used.'),
        tracked_since: Type.Unsafe<string>({ ...Timestamp, description: 'Uses before this time are not known.' }),
        complete: Type.Boolean({ description: 'False if uses are not known for so many days yet. Then all are 0.' }),
        memberships: count('Memberships of teams that made no difference.'),
        assignments: count('Assignments of roles that made no difference.'),
        permissions: count('Permissions of custom roles that made no difference.'),
        all: Type.Object(
          {
            memberships: count('All memberships of teams.'),
            assignments: count('All assignments of roles.'),
            permissions: count('All permissions of custom roles.'),
          },
          { description: 'How many there are, used or not.' },
        ),
      }),
    ),
    last_change: Type.Optional(
      Type.Object(
        {
          at: Timestamp,
          actor: ShownActor,
          action: Type.String(),
          object: Type.Object({ type: Type.String(), id: Int64 }),
        },
        { description: 'The newest entry of the audit log, not counting denied requests. Absent if there is none.' },
      ),
    ),
  } satisfies Record<WirePart, Type.TSchema>),
);

export function overviewRoutes(scope: Scope, getOverview: GetOverview): void {
  scope.get(
    '/orgs/:org/overview',
    {
      config: { access: holdsIn('view:org', 'organization') },
      schema: {
        summary: 'Count what an organization has; lists that the caller may not see are left out',
        tags: ['organizations'],
        extension: true,
        params: Type.Object({ org: Type.String() }),
        response: { 200: Overview },
      },
    },
    async (request) => {
      const { organization, person } = callerIn(request);
      return present(await getOverview(organization.id, person.id, new Date()));
    },
  );
}

function present({ clusters, unusedAccess, lastChange, ...same }: OverviewValue) {
  return {
    ...same,
    ...(clusters && { clusters: presentClusters(clusters) }),
    ...(unusedAccess && { unused_access: presentUnused(unusedAccess) }),
    ...(lastChange && {
      last_change: { ...lastChange, at: timestamp(lastChange.at), actor: showActor(lastChange.actor) },
    }),
  };
}

function presentClusters({ all, byPhase }: NonNullable<OverviewValue['clusters']>) {
  const attention = ATTENTION_PHASES.reduce((sum, phase) => sum + byPhase[phase], 0);
  return { all, attention, by_phase: { ...byPhase } };
}

function presentUnused({ trackedSince, isComplete, ...counts }: NonNullable<OverviewValue['unusedAccess']>) {
  return { ...counts, tracked_since: timestamp(trackedSince), complete: isComplete };
}
