import type { FastifyRequest } from 'fastify';
import Type from 'typebox';
import { invalidField } from '../../base/errors.ts';
import { OBJECT_TYPES } from '../../changes/object-kinds.ts';
import { AtQuery, ChangedSince, historianOf, presentSince, readAt, showAsOf } from '../../history/as-of.view.ts';
import type { Past } from '../../history/past.ts';
import { callerIn, holds } from '../../http/admission/access.ts';
import { type Scope, sendText } from '../../http/server.ts';
import {
  alsoAs,
  Int64,
  Int64Input,
  maybe,
  named,
  OrgQuery,
  orNull,
  readIdNumber,
  shownAs,
  Timestamp,
  timestamp,
} from '../../http/wire/schemas.ts';
import { MarkedUser } from '../explain/marked-user.view.ts';
import { readObjectType } from '../objects.ts';
import type { TimeMachine } from '../time-machine.ts';
import type { MatrixQuestion, MatrixRules } from './matrix.ts';
import { writeCsv, writeMatrix } from './matrix.view.ts';

const MAX_USERS = 2000;
const MAX_IDS = 10_000;
const FORMATS = ['json', 'csv'] as const;

const Reference = named('ObjectName', Type.Object({ id: Int64, name: Type.String() }));
const Asked = named(
  'MatrixQuestion',
  Type.Object({
    type: shownAs(Type.String({ description: 'The type of the objects.' }), { type: 'string', enum: OBJECT_TYPES }),
    ids: maybe(
      Type.Array(Int64Input, {
        maxItems: MAX_IDS,
        description: 'The objects. By default, all that the caller may see.',
      }),
    ),
    all: Type.Optional(orNull(Type.Boolean({ description: 'All objects that the caller may see. Excludes ids.' }))),
    users: maybe(
      Type.Array(Type.String(), {
        maxItems: MAX_USERS,
        description:
          'Login names of the people, and robots such as robot:deploy. By default, all members of the organization.',
      }),
    ),
    robots: Type.Optional(
      orNull(Type.Boolean({ description: 'If true, also every robot that the caller may view, after the people.' })),
    ),
    team: Type.Optional(
      Type.Unsafe<number | bigint>({
        ...Int64Input,
        description: 'ID of a team: the people are its members. Excludes users.',
      }),
    ),
    relations: maybe(
      Type.Array(Type.String(), {
        maxItems: 100,
        description: 'The relations to show. By default, all that can be held on objects of the type.',
      }),
    ),
    part: Type.Optional(
      orNull(
        Type.Boolean({
          description:
            'If true, and there are more than 1,000 objects or too many cells for a matrix, the first people and ' +
            'objects by ID are shown, instead of all or an error. whole says how many there are.',
        }),
      ),
    ),
    differences: Type.Optional(
      orNull(
        Type.Boolean({
          description:
            'If true, leaves out objects on which all users hold the same, and the people with the most common row ' +
            '(at least two, and more than with any other row). left_out says what they hold.',
        }),
      ),
    ),
  }),
);
const Cells = Type.Array(Type.Integer({ minimum: 0, description: 'Bit i is set if relations[i] is held.' }));
const Matrix = named(
  'AccessMatrix',
  Type.Object({
    type: Type.String({ enum: OBJECT_TYPES }),
    at: Timestamp,
    relations: Type.Array(Type.String(), { description: 'In the order of the model.' }),
    users: Type.Array(MarkedUser, { description: 'The rows, by ID: people, then robots.' }),
    objects: Type.Array(Reference, { description: 'The columns, by ID.' }),
    cells: Type.Array(Cells, {
      description:
        'cells[u][o] is what users[u] holds on objects[o], as a sum of powers of two: 2^i for relations[i]. An ' +
        'organization has more than 32 relations, so divide instead of shifting.',
    }),
    changed_since: Type.Optional(ChangedSince),
    whole: Type.Optional(
      named(
        'MatrixWhole',
        Type.Object(
          {
            users: Type.Integer({ description: 'How many people and robots there are.' }),
            objects: Type.Integer({ description: 'How many objects there are.' }),
          },
          { description: 'What there is in all, if only a part of it is shown.' },
        ),
      ),
    ),
    left_out: Type.Optional(
      named(
        'MatrixLeftOut',
        Type.Object({
          users: Type.Integer({ description: 'How many people have the most common row.' }),
          objects: Type.Integer({ description: 'On how many objects all users hold the same.' }),
          common: Type.Array(Type.Integer(), {
            description: 'The most common row, for the objects that are shown. Empty if no user is left out.',
          }),
        }),
      ),
    ),
  }),
);

export function matrixRoutes(
  scope: Scope,
  { matrix }: MatrixRules,
  past: Pick<Past, 'graphsAt'>,
  timeMachine: Pick<TimeMachine, 'requireReader' | 'changesSince'>,
): void {
  scope.post(
    '/authz/matrix',
    {
      config: {
        access: { ...holds('view_members:org', 'authz'), level: 'read' },
        costly: 'name fewer users or objects',
      },
      schema: {
        summary: 'Show what people hold on objects, as a matrix, all as of one moment',
        tags: ['authorization'],
        extension: true,
        querystring: Type.Object({
          ...OrgQuery.properties,
          format: Type.Optional(
            Type.Enum([...FORMATS], {
              description: 'By default, CSV if the Accept header asks for text/csv, otherwise JSON.',
            }),
          ),
          ...AtQuery,
        }),
        body: Asked,
        response: { 200: alsoAs(Matrix, 'text/csv') },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const { type, ...rest } = request.body;
      const asked = { organizationId: organization.id, callerId: person.id, type: readObjectType(type) };
      const then = readAt(request.query.at);
      const at = timestamp(then ?? new Date());
      const historian = historianOf(callerIn(request));
      if (then) await timeMachine.requireReader(historian);
      const found = await matrix({ ...asked, ...readAsked(rest) }, then && past.graphsAt(then));
      const since = then && (await timeMachine.changesSince(historian, then));
      if (then) showAsOf(reply, then, since);
      reply.header('Vary', 'Accept');
      if (formatOf(request, request.query.format) === 'json') {
        return sendText(reply, await writeMatrix(asked.type, at, found, since && presentSince(since)));
      }
      reply.type('text/csv; charset=utf-8');
      reply.header('content-disposition', `attachment; filename="${organization.name}-${asked.type}-access.csv"`);
      return reply.send((await writeCsv(found)) as never);
    },
  );
}

type Rest = Omit<Type.Static<typeof Asked>, 'type'>;

function readAsked(
  body: Rest,
): Pick<MatrixQuestion, 'ids' | 'people' | 'withRobots' | 'relations' | 'isDifferencesOnly' | 'isPartEnough'> {
  const { ids, all, users, robots, team, relations, differences, part } = body;
  if (ids && all) throw invalidField('all', 'a matrix is about all objects or about ids, not both');
  if (users && team !== undefined) throw invalidField('team', 'a matrix is about users or about a team, not both');
  return {
    ids: ids?.map((id) => readIdNumber(id, 'object ID')),
    people: users ? { logins: users } : team === undefined ? 'members' : { teamId: readIdNumber(team, 'team ID') },
    withRobots: robots ?? false,
    relations: relations ?? undefined,
    isDifferencesOnly: differences ?? false,
    isPartEnough: part ?? false,
  };
}

function formatOf(request: FastifyRequest, format: (typeof FORMATS)[number] | undefined): (typeof FORMATS)[number] {
  return format ?? (/\btext\/csv\b/i.test(request.headers.accept ?? '') ? 'csv' : 'json');
}
