import Type from 'typebox';
import { FILTERS, readFilter, readNameOrId } from '../assignments/assignment-input.ts';
import type { TimeMachine } from '../authz/time-machine.ts';
import { PLACE_TYPES } from '../changes/object-kinds.ts';
import { AtQuery, ChangedSince, historianOf, presentSince, readAt, showAsOf } from '../history/as-of.view.ts';
import type { Past } from '../history/past.ts';
import { callerIn, holds } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { Int64, MaybeInt64, named, OrgQuery, orNull, Timestamp, timestamp } from '../http/wire/schemas.ts';
import type { AccessMap, GetMap } from './access-map.ts';
import type { MapFilters } from './map-filters.ts';

const says = (description: string) => ({ description });
const Key = Type.String(says('Unique in the map; lines name it.'));
const People = Type.Integer(says('How many users and robots have access through it, each counted once.'));
const Person = named(
  'MapPerson',
  Type.Object({ key: Key, type: Type.String({ enum: ['user', 'robot_ac'] }), id: Int64, name: Type.String() }),
);
const Team = named('MapTeam', Type.Object({ key: Key, id: Int64, name: Type.String(), people: People }));
const Grant = named(
  'MapGrant',
  Type.Object(
    {
      key: Key,
      role: orNull(Type.Object({ id: Int64, name: Type.String() }, says('Null if it is the permission of teams.'))),
      permission: Type.Unsafe<string | null>({
        ...orNull(Type.String()),
        ...says('read, write, admin or owner: the permission of teams. Null if it is a role.'),
      }),
      namespaces: Type.Array(Type.String(), says('The only namespaces in which it counts. Empty: it counts in all.')),
      relations: Type.Array(Type.String(), says('What it allows there, in the order of the model.')),
      people: People,
    },
    says('A role, or the permission of teams, in one place. A role that is assigned in two places is two grants.'),
  ),
);
const Place = named(
  'MapPlace',
  Type.Object(
    {
      key: Key,
      type: Type.String({ enum: [...PLACE_TYPES] }),
      id: MaybeInt64,
      name: Type.String(),
      people: People,
    },
    says('What grants are on. A cluster_set has no ID.'),
  ),
);
const Line = named(
  'MapLine',
  Type.Object(
    {
      from: Type.String(says('The key of a person, team or grant.')),
      to: Type.String(says('The key of a team, grant or place.')),
      why: orNull(
        Type.Object(
          {
            user: Type.String(says('Login name, or a robot such as robot:deploy.')),
            relation: Type.String(),
            object: Type.Object({ type: Type.String(), id: Int64 }),
          },
          says(
            'A question for explain whose answer is yes because of this line. Null if no user is there yet, or if the grant allows nothing there.',
          ),
        ),
      ),
    },
    says('From one column to a column right of it.'),
  ),
);
const count = (what: string) => Type.Integer(says(`How many ${what} are not drawn.`));
const AccessMapResponse = named(
  'AccessMap',
  Type.Object({
    at: Timestamp,
    changed_since: Type.Optional(ChangedSince),
    people: Type.Array(Person, says('Users and robots, those with the most lines first.')),
    teams: Type.Array(Team, says('Those with the most members first.')),
    grants: Type.Array(Grant, says('Those with the most people first.')),
    places: Type.Array(Place),
    lines: Type.Array(Line),
    left_out: Type.Object(
      { people: count('people'), teams: count('teams'), grants: count('grants'), places: count('places') },
      says('A column shows a few of many. Filters lead to the rest.'),
    ),
  }),
);

export function accessMapRoutes(
  scope: Scope,
  getMap: GetMap,
  readFilters: MapFilters,
  past: Pick<Past, 'graphsAt'>,
  timeMachine: Pick<TimeMachine, 'requireReader' | 'changesSince'>,
): void {
  scope.get(
    '/authz/map',
    {
      config: { access: holds('view_members:org', 'authz'), costly: 'ask about one user, team, role or object' },
      schema: {
        summary: 'Show who has access through which teams and roles to what, as a map, all as of one moment',
        tags: ['authorization'],
        extension: true,
        strictQuery: true,
        querystring: Type.Object({
          ...OrgQuery.properties,
          to: Type.Optional(
            Type.String(
              says('Only what this user, team or robot has, such as user:dan, team:operators or robot:deploy.'),
            ),
          ),
          role: Type.Optional(Type.String(says('Only this role: its ID or name.'))),
          on: Type.Optional(
            Type.String(
              says('Only what counts there, such as cluster:prod or organization; on a cluster, also through its set.'),
            ),
          ),
          ...AtQuery,
        }),
        response: { 200: AccessMapResponse },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const { to, role, on } = request.query;
      const asked = {
        to: readFilter('to', to, FILTERS.to),
        role: role === undefined ? undefined : readNameOrId(role),
        on: readFilter('on', on, FILTERS.on),
      };
      const then = readAt(request.query.at);
      const historian = historianOf(callerIn(request));
      if (then) await timeMachine.requireReader(historian);
      const things = await readFilters(organization.id, asked);
      const question = { organizationId: organization.id, callerId: person.id, ...things };
      const map = await getMap(question, then && past.graphsAt(then));
      const since = then && (await timeMachine.changesSince(historian, then));
      if (then) showAsOf(reply, then, since);
      const at = timestamp(then ?? new Date());
      return { at, ...(since && { changed_since: presentSince(since) }), ...present(map) };
    },
  );
}

function present({ people, teams, grants, places, lines, leftOut }: AccessMap) {
  return {
    people: people.map(({ people: _, ...same }) => same),
    teams: teams.map(({ type: _, ...same }) => same),
    grants: grants.map(({ role = null, permission = null, namespaces, relations, ...same }) => ({
      ...{ ...same, role, permission },
      ...{ namespaces: [...namespaces], relations: [...relations] },
    })),
    places: places.map((one) => (one.type === 'cluster_set' ? { ...one, id: null } : one)),
    lines: lines.map(({ why, ...line }) => ({ ...line, why: why ? { ...why, object: objectOf(why.object) } : null })),
    left_out: leftOut,
  };
}

function objectOf(text: string) {
  const colon = text.indexOf(':');
  return { type: text.slice(0, colon), id: BigInt(text.slice(colon + 1)) };
}
