import Type, { type Static } from 'typebox';
import { invalidField } from '../base/errors.ts';
import type { Term } from '../base/expiry.ts';
import { PRINCIPAL_TYPES } from '../changes/object-kinds.ts';
import { KUBERNETES_AUTHS } from '../clusters/kubernetes-access.ts';
import { Int64Input, named, readIdNumber, readMoment, Timestamp } from '../http/wire/schemas.ts';
import { EditTeam } from '../organizations/teams.routes.ts';
import { UpdateRole } from '../roles/roles.routes.ts';
import { CHANGE_ACTIONS } from './changes/changes.ts';
import type { PlannedChange, PlannedReference } from './changes/planned-change.ts';

/** Changes whose own call accepts an end. */
const ENDING: readonly string[] = [
  'role.assign',
  'team.add_member',
  'member.add',
  'assignment.create',
  'assignment.update',
];
const MAX_CHANGES = 100;

const PlannedRole = named(
  'PlannedRole',
  Type.Object({
    ...UpdateRole.properties,
    id: Type.Optional(
      Type.Unsafe<number | bigint>({ ...Int64Input, description: 'With assignment.create: the role, or its name.' }),
    ),
    teams: Type.Optional(Type.Array(Int64Input, { maxItems: 1000, description: 'The same as teamIDs.' })),
  }),
);
const PlannedTeam = named(
  'PlannedTeam',
  Type.Object({
    ...EditTeam.properties,
    members: Type.Optional(
      Type.Array(Type.String(), { maxItems: 100, description: 'Login names of the first members of a new team.' }),
    ),
  }),
);
const PlannedPlace = (description: string) =>
  Type.Optional(
    Type.Object(
      {
        type: Type.String({ description: 'What it is.' }),
        id: Type.Optional(Type.Union([Int64Input, Type.Null()])),
        name: Type.Optional(Type.String({ description: 'Its name.' })),
      },
      { description },
    ),
  );
const PlannedExpiry = Type.Optional(
  Type.Union([Timestamp, Type.Null()], {
    description:
      'With role.assign, team.add_member, member.add, assignment.create and assignment.update: when it ends by itself, ' +
      'as in the real call. Null: never. ' +
      'If it is left out, what exists already keeps its end, and what is new has none.',
  }),
);
const Change = named(
  'PlannedChange',
  Type.Object({
    action: Type.Enum(CHANGE_ACTIONS, { description: 'What the change does, as the audit log calls it.' }),
    id: Type.Optional(Int64Input),
    role: Type.Optional(PlannedRole),
    team: Type.Optional(
      Type.Union([PlannedTeam, Int64Input, Type.String({ maxLength: 100 })], {
        description:
          'With team.create and team.update, the fields of the team. With role.assign and role.unassign, the ID of the ' +
          'team. With member.add, its name; by default, Viewers.',
      }),
    ),
    to: PlannedPlace('With assignment.create: a user, team or robot_ac of the organization, by ID or name.'),
    on: PlannedPlace('With assignment.create: on what, by ID or name. By default, the organization.'),
    namespaces: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'With assignment.create on a cluster or a cluster_set: the only namespaces in which it counts, names or ' +
          'prefixes that end in *. By default, all of it.',
      }),
    ),
    cluster: Type.Optional(
      Type.Object(
        {
          clusterSetName: Type.Optional(
            Type.String({ description: 'The set that the cluster moves into. Empty: none.' }),
          ),
          kubernetes: Type.Optional(
            Type.Object(
              { auth: Type.Optional(Type.Enum([...KUBERNETES_AUTHS], { description: 'Who governs it.' })) },
              {
                description:
                  'Who governs what can be done inside it. It changes what relations mean there, and no user gains or loses any.',
              },
            ),
          ),
        },
        { description: 'With cluster.update: what changes of the cluster, as far as it decides who reaches it.' },
      ),
    ),
    username: Type.Optional(Type.String({ maxLength: 100 })),
    expires_at: PlannedExpiry,
    orphan: Type.Optional(
      Type.Boolean({ description: 'With member.remove: leave even as the last owner, as with orphan=true.' }),
    ),
    document: Type.Optional(
      Type.String({
        description: 'With roles.import: the document as text, in YAML or JSON, as the export returns it.',
      }),
    ),
    prune: Type.Optional(
      Type.Boolean({ description: 'With roles.import: delete the roles that are not in the document.' }),
    ),
  }),
);
export const ChangePlan = named(
  'ChangePlan',
  Type.Object({
    changes: Type.Array(Change, {
      maxItems: MAX_CHANGES,
      description:
        'At least one, unless there is `at`. Each is made after the ones before it. What the list creates has no ID yet: its first team, role or assignment ' +
        'is -1, the second is -2, and so on.',
    }),
    at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description:
          'A moment in the future, within 10 years: what ends by itself until then has ended, too. Without changes, the ' +
          'answer is what will change by itself.',
      }),
    ),
    objects: Type.Optional(
      Type.Boolean({ description: 'If false, only permissions on the organization are compared. By default, true.' }),
    ),
  }),
);
/** Each action needs other fields. One schema of alternatives would say of a typo only that nothing matches. */
export function readChange(given: Static<typeof Change>, place: number): PlannedChange {
  const { action } = given;
  const term = readTerm();
  switch (action) {
    case 'role.create':
      return { action, role: readRole() };
    case 'role.update':
      return { action, id: readId('id', given.id), role: readRole() };
    case 'role.delete':
    case 'team.delete':
      return { action, id: readId('id', given.id) };
    case 'role.assign':
      return { action, id: readId('id', given.id), teamId: readId('team', given.team), term };
    case 'role.unassign':
      return { action, id: readId('id', given.id), teamId: readId('team', given.team) };
    case 'team.create': {
      const { name, members = [], ...team } = readTeam();
      return { action, team: { ...team, name: name ?? missing('team.name') }, members };
    }
    case 'team.update':
      return { action, id: readId('id', given.id), team: readTeam() };
    case 'team.add_member':
      return { action, id: readId('id', given.id), username: readUsername(), term };
    case 'team.remove_member':
      return { action, id: readId('id', given.id), username: readUsername() };
    case 'member.add':
      return { action, username: readUsername(), teamName: readTeamName(), term };
    case 'member.remove':
      return { action, username: readUsername(), orphans: given.orphan ?? false };
    case 'roles.import':
      return { action, document: given.document ?? missing('document'), prunes: given.prune ?? false };
    case 'assignment.create': {
      const { id, name } = given.role ?? missing('role');
      const role = { name, id: id === undefined ? undefined : readId('role.id', id) };
      if (role.id === undefined && name === undefined) missing('role.id');
      return { action, role, to: readTo(), on: readOn(), namespaces: given.namespaces, term };
    }
    case 'assignment.update':
      return { action, id: readId('id', given.id), term };
    case 'assignment.delete':
      return { action, id: readId('id', given.id) };
    case 'cluster.update':
      return { action, id: readId('id', given.id), ...readCluster() };
  }

  function readCluster() {
    const { clusterSetName: setName, kubernetes } = given.cluster ?? missing('cluster');
    if (setName === undefined && kubernetes === undefined) missing('cluster.clusterSetName');
    return { setName, isGoverned: kubernetes !== undefined };
  }

  /** Whether it is in the future is decided after what the caller may do, as by the real call. */
  function readTerm(): Term {
    const { expires_at: text } = given;
    const name = `changes[${place}].expires_at`;
    if (text !== undefined && !ENDING.includes(action)) {
      throw invalidField(name, `${name} is only for ${ENDING.join(', ')}`);
    }
    return text ? readMoment(text, name) : text === undefined ? undefined : null;
  }

  function readTo(): PlannedReference {
    const to = referenceOf('to', given.to ?? missing('to'));
    if (!(PRINCIPAL_TYPES as readonly string[]).includes(to.type)) {
      throw invalidField(`changes[${place}].to`, 'to must be a user, a team or a robot_ac');
    }
    return to;
  }

  /** A set of clusters has a name and no ID. */
  function readOn(): PlannedReference | undefined {
    if (given.on === undefined) return undefined;
    const on = referenceOf('on', given.on);
    const isNamed = on.name !== undefined && on.name !== '' && on.name.length <= 255 && on.id === undefined;
    if (on.type === 'cluster_set' && !isNamed) {
      throw invalidField(`changes[${place}].on`, 'on must have the name of the set, and no ID');
    }
    return on;
  }

  function referenceOf(field: 'to' | 'on', { type, id, name }: NonNullable<typeof given.to>): PlannedReference {
    if (id == null && name === undefined) missing(`${field}.id`);
    return {
      type: type === 'robot' ? 'robot_ac' : type,
      name,
      id: id == null ? undefined : readId(`${field}.id`, id),
    };
  }

  function readRole() {
    const { teams, teamIDs = teams, id: _, ...role } = given.role ?? missing('role');
    return { ...role, teamIds: teamIDs?.map((id) => readId('role.teamIDs', id)) };
  }

  function readTeam() {
    return typeof given.team === 'object' ? given.team : missing('team');
  }

  function readTeamName(): string | undefined {
    return given.team === undefined || typeof given.team === 'string' ? given.team : missing('team');
  }

  function readUsername(): string {
    return given.username ?? missing('username');
  }

  /** What an earlier change creates has a number below zero. */
  function readId(field: string, value: unknown): bigint {
    if (typeof value !== 'number' && typeof value !== 'bigint') return missing(field);
    return value < 0 ? -readIdNumber(-value, field) : readIdNumber(value, field);
  }

  function missing(field: string): never {
    const name = `changes[${place}].${field}`;
    throw invalidField(name, `${name} is required for ${action}`);
  }
}
