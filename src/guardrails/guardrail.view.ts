import Type, { type Static } from 'typebox';
import { documentedSchema, Int64, Int64Input, named, shownAs, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { GUARDED_TYPES } from './guardrail.ts';
import type { NamedRef, ShownGuardrail } from './guardrails.ts';

const MAX_USERS = 100;
const says = (description: string) => ({ description });
const Ref = named(
  'NamedReference',
  Type.Object(
    {
      id: Type.Unsafe<number | bigint>({ ...Int64, description: 'ID, or 0 if the caller may not see it.' }),
      name: Type.String(says('Its name, or (hidden) if the caller may not see it.')),
    },
    says('Something that a statement names.'),
  ),
);
const Violator = named(
  'GuardrailViolator',
  Type.Object(
    {
      user: Type.Object(
        {
          ...Ref.properties,
          type: Type.Optional(
            Type.String({ enum: ['robot_ac'], ...says('Only of a robot: then the ID is that of the robot.') }),
          ),
        },
        says('The user, or the robot.'),
      ),
    },
    says('A user or robot for whom a statement does not hold.'),
  ),
);
const ShownObject = named(
  'GuardedObject',
  Type.Object(
    {
      type: Type.String({ enum: [...GUARDED_TYPES], ...says('Type of the object.') }),
      id: Type.Optional(Type.Unsafe<number | bigint>({ ...Int64, ...says('Left out: any object of the type.') })),
      name: Type.Optional(Type.String(says('Name of the object.'))),
    },
    says('The object that a statement is about.'),
  ),
);
const RELATION = 'The relation that is held or not, such as can_connect.';
const ShownStatement = named(
  'GuardrailStatement',
  Type.Object(
    {
      users: Type.Optional(Type.Array(Ref, says('The users that it is about.'))),
      robots: Type.Optional(Type.Array(Ref, says('The robots that it is about.'))),
      team: Type.Optional(Ref),
      count: Type.Optional(Type.Integer(says('At least or at most so many people.'))),
      relation: Type.String(says(RELATION)),
      object: ShownObject,
    },
    says('What a guardrail states. What it names is shown as it is called now.'),
  ),
);
const State = named(
  'GuardrailState',
  Type.Object(
    {
      holds: Type.Boolean(says('Whether the statement is true.')),
      violated_by: Type.Array(Violator, says('Who violates it, as far as the caller may see them; at most 1,000.')),
      total: Type.Integer(says('How many people violate it, also those who are not listed.')),
      count: Type.Optional(
        Type.Integer(
          says('How many people hold the relation, if too few or too many do. Site administrators are not counted.'),
        ),
      ),
      vacuous: Type.Boolean(says('The object is gone, or every user whom it names: it says nothing any more.')),
    },
    says('Whether a guardrail holds, as of the latest change.'),
  ),
);

const NAME = 'Name for people, 1 to 100 characters. Unique in the organization, ignoring case.';
const DESCRIPTION = 'Why it is there, at most 1000 characters.';
const ENFORCE = 'Whether changes that would violate it are rejected. Otherwise it is only watched.';

export const GuardrailResponse = named(
  'Guardrail',
  Type.Object(
    {
      id: Type.Unsafe<number | bigint>({ ...Int64, ...says('ID, or 0 in a dry run of a new one.') }),
      name: Type.String(says(NAME)),
      description: Type.String(says(DESCRIPTION)),
      enforce: Type.Boolean(says(ENFORCE)),
      sentence: Type.String(says('The statement in words.')),
      never: Type.Optional(ShownStatement),
      always: Type.Optional(ShownStatement),
      at_least: Type.Optional(ShownStatement),
      at_most: Type.Optional(ShownStatement),
      state: State,
      created_at: Timestamp,
      updated_at: Timestamp,
    },
    says(
      'A statement about who may do what in an organization that must stay true. It has one of never, always, at_least and at_most.',
    ),
  ),
);

const ObjectInput = named(
  'GuardedObjectInput',
  Type.Object(
    {
      type: documentedSchema(Type.String(says('Type of the object.')), { enum: [...GUARDED_TYPES] }),
      id: Type.Optional(Type.Unsafe<number | bigint>({ ...Int64Input, ...says('ID of the object.') })),
      name: Type.Optional(Type.String(says('Name of the object, instead of its ID.'))),
    },
    says('The object that a statement is about. Without ID and name: the organization, or any object of the type.'),
  ),
);
const About = {
  relation: Type.String(says(`${RELATION} The prefix can be left out.`)),
  object: Type.Optional(ObjectInput),
};
const AboutPeople = named(
  'GuardrailAboutPeople',
  Type.Object(
    {
      users: Type.Optional(Type.Array(Type.String(), { maxItems: MAX_USERS, ...says('Login names.') })),
      robots: Type.Optional(
        Type.Array(Type.String(), { maxItems: MAX_USERS, ...says('Names of robots of the organization.') }),
      ),
      team: Type.Optional(
        shownAs(Type.Unsafe<string | number | bigint>(says('ID or name of a team: all its members.')), {
          anyOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }],
          ...says('ID or name of a team: all its members.'),
        }),
      ),
      ...About,
    },
    says('A statement about users, robots and the members of a team: at least one of them.'),
  ),
);
const AboutNumber = named(
  'GuardrailAboutNumber',
  Type.Object(
    { count: Type.Integer(says('At least or at most so many people.')), ...About },
    says('A statement about the number of people who hold a relation. Site administrators are not counted.'),
  ),
);

export const EditGuardrail = named(
  'EditGuardrail',
  Type.Object(
    {
      name: Type.Optional(Type.String(says(NAME))),
      description: Type.Optional(Type.String(says(DESCRIPTION))),
      enforce: Type.Optional(Type.Boolean(says(ENFORCE))),
      never: Type.Optional(AboutPeople),
      always: Type.Optional(AboutPeople),
      at_least: Type.Optional(AboutNumber),
      at_most: Type.Optional(AboutNumber),
    },
    says('What to change about a guardrail. Omitted fields stay unchanged; a statement is replaced as a whole.'),
  ),
);
export const NewGuardrail = named(
  'NewGuardrail',
  Type.Object(
    { ...EditGuardrail.properties, name: Type.String(says(NAME)) },
    says('A guardrail to create, with one of never, always, at_least and at_most.'),
  ),
);

export function presentGuardrail(shown: ShownGuardrail): Static<typeof GuardrailResponse> {
  const { guardrail, sentence, users, robots, team, object, isVacuous, violation, violatedBy } = shown;
  const { id, name, description, enforce, kind, relation, objectType, count, createdAt, updatedAt } = guardrail;
  const statement = {
    ...(users.length > 0 && { users: users.map(present) }),
    ...(robots.length > 0 && { robots: robots.map(present) }),
    ...(team && { team: present(team) }),
    ...(count !== undefined && { count }),
    relation,
    object: { type: objectType, ...(object && present(object)) },
  };
  return {
    id,
    name,
    description,
    enforce,
    sentence,
    [kind]: statement,
    state: {
      holds: violation === undefined,
      violated_by: violatedBy.map(({ type, ...user }) => ({
        user: { ...present(user), ...(type === 'robot_ac' && { type }) },
      })),
      total: violation?.total ?? 0,
      ...(violation?.held !== undefined && { count: violation.held }),
      vacuous: isVacuous,
    },
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
}

function present({ id, name }: NamedRef) {
  return { id, name };
}
