import type { Scope } from '../identity/scopes.ts';

/** A tool as `tools/list` shows it. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: object;
  readonly annotations: Readonly<Record<string, boolean>>;
}

const text = (description: string) => ({ type: 'string', minLength: 1, maxLength: 1000, description });
const ORG = { org: text('Name of the organization.') };
const OBJECT = {
  object: text(
    'The object, as type and ID or name: cluster:prod, cluster:1, team:operators. organization alone is org.',
  ),
};
const RELATION = { relation: text('What is held, with or without can_: can_connect, connect, view.') };
const AT = { at: text('As of this past moment (RFC 3339). Needs the right to view the audit log, but for oneself.') };
const names = (description: string) => ({
  type: 'array',
  maxItems: 50,
  items: { type: 'string', minLength: 1, maxLength: 255 },
  description,
});

function input(required: object, optional: object = {}): object {
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: false,
  };
}

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** In the order of the specification. */
export const TOOLS = [
  {
    name: 'can',
    title: 'Can a user do something?',
    description: 'Says whether a user or robot may do something with an object, why, and on a no what would help.',
    inputSchema: input(
      { ...ORG, ...RELATION, ...OBJECT },
      {
        user: text('Login name, or a robot such as robot:deploy. By default, the caller.'),
        namespace: text('Of a cluster: in this namespace.'),
        ...AT,
      },
    ),
    annotations: READING,
  },
  {
    name: 'who_can',
    title: 'Who can do something?',
    description: 'Lists the users and robots who may do something with an object, and through what.',
    inputSchema: input({ ...ORG, ...RELATION, ...OBJECT }, AT),
    annotations: READING,
  },
  {
    name: 'access_of',
    title: 'What does a user have access to?',
    description: 'Shows everything that a user or robot holds in an organization, and why.',
    inputSchema: input({ ...ORG, user: text('Login name, or a robot such as robot:deploy.') }, AT),
    annotations: READING,
  },
  {
    name: 'matrix',
    title: 'People × objects',
    description:
      'Shows what people hold on the objects of a type: cells[u][o] is the sum of 2^i for relations[i] that users[u] holds on objects[o].',
    inputSchema: input(
      { ...ORG, type: text('cluster, team, contract, robot_ac or organization.') },
      { relations: names('By default, all of the type.'), users: names('Login names. By default, all members.') },
    ),
    annotations: READING,
  },
  {
    name: 'what_changed',
    title: 'What has changed?',
    description: 'Lists what has changed who may do what since a moment, newest first.',
    inputSchema: input({ ...ORG, since: text('A moment (RFC 3339).') }),
    annotations: READING,
  },
  {
    name: 'preview_change',
    title: 'What would a change do?',
    description:
      'Says who would gain and lose what by changes of roles, teams, members or assignments. Changes nothing.',
    inputSchema: input({
      ...ORG,
      changes: {
        ...{ type: 'array', minItems: 1, maxItems: 50, items: { type: 'object' } },
        description: 'Changes as POST /authz/preview takes them, such as {"action": "team.add_member", …}.',
      },
    }),
    annotations: READING,
  },
  {
    name: 'search',
    title: 'Find by name',
    description: 'Finds objects, teams and people of an organization by name.',
    inputSchema: input({ ...ORG, q: text('A part of the name.') }),
    annotations: READING,
  },
  {
    name: 'request_access',
    title: 'Ask for access',
    description: 'Asks for something that the caller may not do yet, for a while. People decide about it.',
    inputSchema: input({
      ...{ ...ORG, ...RELATION, ...OBJECT },
      for: text('For how long, such as PT4H.'),
      reason: text('Why. Those who decide read it.'),
    }),
    annotations: { ...READING, readOnlyHint: false },
  },
] as const satisfies readonly Tool[];

export type ToolName = (typeof TOOLS)[number]['name'];

export const SCOPE_OF: Readonly<Record<ToolName, Scope>> = {
  can: 'read:authz',
  who_can: 'read:authz',
  access_of: 'read:authz',
  matrix: 'read:authz',
  what_changed: 'read:authz',
  preview_change: 'read:authz',
  search: 'read:organization',
  request_access: 'write:authz',
};
