import Type, { type Static } from 'typebox';
import { invalidField } from '../base/errors.ts';
import type { Term } from '../base/expiry.ts';
import { writeJson } from '../base/json.ts';
import { mapInSlices } from '../base/slices.ts';
import { callerIn, member } from '../http/admission/access.ts';
import { presentGuardrail } from '../http/error-format.ts';
import { type Scope, sendText } from '../http/server.ts';
import {
  Int64,
  Int64Input,
  named,
  OrgQuery,
  PermissionPair,
  readIdNumber,
  readMoment,
  Timestamp,
  UserReference,
  ViolatedGuardrail,
} from '../http/wire/schemas.ts';
import { expiryText, presentExpiry } from '../organizations/expires-at.view.ts';
import { EditTeam } from '../organizations/teams.routes.ts';
import { UpdateRole } from '../roles/roles.routes.ts';
import type { Held } from '../simulation/comparison.ts';
import { CHANGE_ACTIONS } from './changes/changes.ts';
import type { PlannedChange } from './changes/planned-change.ts';
import type { Impact, ImpactReport } from './impact.ts';
import type { KeptHeld, ShownImpact } from './visible-impact.ts';

/** Changes whose own call accepts an end. */
const ENDING: readonly string[] = ['role.assign', 'team.add_member', 'member.add'];
const MAX_CHANGES = 100;

const PlannedRole = named(
  'PlannedRole',
  Type.Object({
    ...UpdateRole.properties,
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
const PlannedExpiry = Type.Optional(
  Type.Union([Timestamp, Type.Null()], {
    description:
      'With role.assign, team.add_member and member.add: when it ends by itself, as in the real call. Null: never. ' +
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
const Plan = named(
  'ChangePlan',
  Type.Object({
    changes: Type.Array(Change, {
      maxItems: MAX_CHANGES,
      description:
        'At least one, unless there is `at`. Each is made after the ones before it. What the list creates has no ID yet: its first team or role is -1, the ' +
        'second is -2, and so on.',
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
const EFFECT = {
  object: named('ImpactObject', Type.Object({ type: Type.String(), id: Int64, name: Type.String() })),
  relation: Type.String({ description: 'What can be done on the object, such as can_edit.' }),
  permission: Type.Union([PermissionPair, Type.Null()], {
    description: 'The permission that a role can contain, if the relation on the organization is one.',
  }),
};
const EffectSchema = named(
  'ImpactEffect',
  Type.Object({
    ...EFFECT,
    expires_at: Type.Optional(
      Type.Unsafe<string>({
        ...Timestamp,
        description:
          'When it ends by itself, or would have ended without the changes. Absent if it does not, also in another way, ' +
          'or if the caller may not see all teams that it depends on.',
      }),
    ),
  }),
);
const KeptSchema = named(
  'ImpactKept',
  Type.Object({
    ...EFFECT,
    expires_at: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'When it ends by itself after the changes. Absent: never.' }),
    ),
    expires_at_before: Type.Optional(
      Type.Unsafe<string>({ ...Timestamp, description: 'When it ends without the changes. Absent: never.' }),
    ),
  }),
);
const Report = named(
  'Impact',
  Type.Object({
    users: Type.Array(
      named(
        'UserImpact',
        Type.Object({
          user: UserReference,
          gains: Type.Array(EffectSchema),
          loses: Type.Array(EffectSchema),
          keeps: Type.Array(KeptSchema, {
            description: 'What they can do before and after, but not for as long, or for longer.',
          }),
          more: Type.Integer({ description: 'How many effects on single objects are left out of this entry.' }),
        }),
      ),
      { description: 'Ordered by user ID; those after the first thousand are left out.' },
    ),
    total: Type.Integer({
      description:
        'How many users the changes affect. Those after the first thousand are counted only if they gain or lose something.',
    }),
    unattended: Type.Array(EffectSchema, {
      description:
        'What nobody except site administrators could do any more, although somebody can now. Empty if the caller may ' +
        'not see the members.',
    }),
    refusals: Type.Array(
      named(
        'ImpactRefusal',
        Type.Object({
          change: Type.Integer({ description: 'The place of the change in the list, from 0.' }),
          field: Type.String({ description: 'The field at fault, such as changes[0].username.' }),
          reason: Type.String(),
          message: Type.String(),
          guardrail: Type.Optional(ViolatedGuardrail),
        }),
      ),
      {
        description:
          'Why the real call of a change would be rejected. The impact includes that change, as if there were no such ' +
          'rule, but none of the changes after it.',
      },
    ),
    guardrails: Type.Array(
      named(
        'ImpactGuardrail',
        Type.Object({
          ...ViolatedGuardrail.properties,
          enforce: Type.Boolean({ description: 'Otherwise it is only watched, and the change would be made.' }),
        }),
      ),
      {
        description:
          'Guardrails that would be violated in the end, or by more people than now, also those that are only watched. ' +
          'Empty if the caller may not view roles.',
      },
    ),
  }),
);

export function impactRoutes(scope: Scope, impact: Impact): void {
  scope.post(
    '/authz/preview',
    {
      config: {
        access: member('authz', 'as users', { level: 'read' }),
        costly: 'preview fewer changes, or without objects',
      },
      schema: {
        summary: 'Preview who would gain and lose what by some changes, and what nobody could do any more',
        tags: ['authorization'],
        extension: true,
        querystring: OrgQuery,
        body: Plan,
        response: { 200: Report },
      },
    },
    async (request, reply) => {
      const { person, organization } = callerIn(request);
      const asker = { organizationId: organization.id, organizationName: organization.name, callerId: person.id };
      const { objects: withObjects = true, at } = request.body;
      const changes = request.body.changes.map(readChange);
      if (changes.length === 0 && at === undefined)
        throw invalidField('changes', 'changes must not be empty without at');
      const question = { withObjects, at: at === undefined ? undefined : readMoment(at, 'at') };
      const report = await impact.preview(asker, changes, question);
      const { people, total, unattended, refusals, guardrails } = report;
      const present = presenter(report);
      const texts = new Map<ShownImpact, string>();
      const users = await mapInSlices(people, ({ person: user, impact: shown }) => {
        // Users who are alike share what is said, so it is written once.
        const text = texts.get(shown) ?? writeJson(presentImpact(shown, present)).slice(1);
        texts.set(shown, text);
        return `{"user":${writeJson(user)},${text}`;
      });
      const rest = writeJson({
        total,
        unattended: unattended.map(present),
        refusals: refusals.map(({ guardrail, ...refusal }) => ({
          ...refusal,
          ...(guardrail && { guardrail: presentGuardrail(guardrail) }),
        })),
        guardrails: guardrails.map((one) => ({ ...presentGuardrail(one), enforce: one.enforce })),
      });
      sendText(reply, `{"users":[${users.join(',')}],${rest.slice(1)}`);
      return reply;
    },
  );
}

function presenter({ nameOf, permissionOf }: Pick<ImpactReport, 'nameOf' | 'permissionOf'>) {
  return ({ object, relation, until, untilBefore }: Held & Partial<KeptHeld>) => {
    const permission = permissionOf({ object, relation });
    return {
      object: nameOf(object),
      relation,
      permission: permission ? { namespace: permission.namespace, action: permission.action } : null,
      ...presentExpiry(until),
      ...(untilBefore && { expires_at_before: expiryText(untilBefore) }),
    };
  };
}

function presentImpact({ gains, loses, keeps, more }: ShownImpact, present: ReturnType<typeof presenter>) {
  return { gains: gains.map(present), loses: loses.map(present), keeps: keeps.map(present), more };
}

/** Each action needs other fields. One schema of alternatives would say of a typo only that nothing matches. */
function readChange(given: Static<typeof Change>, place: number): PlannedChange {
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

  function readRole() {
    const { teams, teamIDs = teams, ...role } = given.role ?? missing('role');
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
