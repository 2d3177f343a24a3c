import type { MissingLink, Step } from '../../../packages/rebac/src/rebac.ts';
import { HIDDEN } from './hidden-objects.ts';
import { PARTS } from './role-parts.ts';

/** What an object is called, if the caller may know its name; else `team:4`. */
export type NameOf = (object: string) => string;

/** What those who hold a structural relation are called; one of them, and many. */
const HOLDERS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  owner: ['an owner', 'owners'],
  admin: ['an admin', 'admins'],
  editor: ['an editor', 'editors'],
  viewer: ['a viewer', 'viewers'],
  member: ['a member', 'members'],
  participant: ['a member', 'members'],
  assignee: ['an assignee', 'assignees'],
  steward: ['a steward', 'stewards'],
  last_owner: ['the last owner', 'last owners'],
  robot: ['a robot account', 'robot accounts'],
};
/** The words that differ between an answer about now and one about a past moment. */
export interface Tense {
  readonly can: string;
  readonly cannot: string;
  readonly is: string;
  readonly are: string;
  readonly has: string;
  readonly owns: string;
  readonly hold: string;
  readonly wouldHaveToBe: string;
  readonly wouldHaveToHave: string;
  readonly mustNoLongerBe: string;
  /** What has to change if a relation excludes the user. */
  readonly obstacles: Readonly<Record<string, string>>;
}

export const PRESENT: Tense = {
  can: 'can',
  cannot: 'cannot',
  is: 'is',
  are: 'are',
  has: 'has',
  owns: 'owns',
  hold: 'hold',
  wouldHaveToBe: 'would have to be',
  wouldHaveToHave: 'would have to have',
  mustNoLongerBe: 'must no longer be',
  obstacles: {
    last_owner: '% would need another owner',
    kept: '% would need another member',
    built_in: '% is built in and stays',
  },
};

export const PAST: Tense = {
  can: 'could',
  cannot: 'could not',
  is: 'was',
  are: 'were',
  has: 'had',
  owns: 'owned',
  hold: 'held',
  wouldHaveToBe: 'would have had to be',
  wouldHaveToHave: 'would have had to have',
  mustNoLongerBe: 'would have had to be no longer',
  obstacles: {
    last_owner: '% would have needed another owner',
    kept: '% would have needed another member',
    built_in: '% was built in',
  },
};
/** Relations that do not read well by the rule of `doing`. `%` is the object. */
const PHRASES: Readonly<Record<string, string>> = {
  can_connect: 'connect to %',
  can_connect_clusters: 'connect to the clusters of %',
  can_add_member: 'add members to %',
  can_remove_member: 'remove members from %',
  can_create_team: 'create teams in %',
  can_create_role: 'create roles in %',
  can_import_clusters: 'import clusters into %',
  can_manage_team_members: 'manage the team members of %',
  can_view_orchestratorconfig: 'view the orchestrator configuration of %',
  can_view_cluster_config: 'view the orchestrator configuration of the clusters of %',
  can_review: 'review requests of %',
  can_review_clusters: 'review requests of the clusters of %',
  can_delete_tokens: 'revoke the tokens of %',
  remover: 'delete %',
  manager: 'manage the members of %',
  connect_clusters: 'connect to the clusters of %',
  view_in_namespaces: 'view namespaces of the clusters of %',
  review_clusters: 'review requests of the clusters of %',
  view_cluster_config: 'view the orchestrator configuration of the clusters of %',
};

/** `can_edit_clusters` of acme: "edit the clusters of acme". */
export function doing(relation: string, object: string): string {
  return fill(phraseOf(relation), object);
}

/** A structural relation as what a subject is: "a member of the team". */
export function describeRelation(relation: string, object: string): string {
  const holder = HOLDERS[relation]?.[0];
  return holder === undefined ? `${relation.replaceAll('_', ' ')} of ${object}` : `${holder} of ${object}`;
}

/** By a function: in a plain replacement, `$&` in the name of a contract or role would not stand for itself. */
function fill(phrase: string, name: string): string {
  return phrase.replace('%', () => name);
}

/** The same about an object that was just named: "edit its clusters", "delete it". */
function doingIt(relation: string): string {
  return phraseOf(relation)
    .replace(/\bthe ([\w ]+) of %/, 'its $1')
    .replace('%', 'it');
}

function phraseOf(relation: string): string {
  const phrase = PHRASES[relation];
  if (phrase !== undefined) return phrase;
  const [verb = '', ...words] = relation.replace(/^can_/, '').split('_');
  const nouns = words.map((word) => (word === 'robots' ? 'robot accounts' : word));
  if (nouns.length === 0) return `${verb} %`;
  return verb === 'create' ? `create ${nouns.join(' ')} in %` : `${verb} the ${nouns.join(' ')} of %`;
}

/** One step as a sentence: what holds, and for whom. */
export function textOf(step: Step, user: string, nameOf: NameOf, tense = PRESENT): string {
  const { object, relation, rule, tuple, from } = step;
  const name = nameOf(object);
  switch (rule) {
    case 'self':
      return `${user} ${tense.is} this user`;
    case 'direct':
      return fact(user, relation, object, nameOf, tense);
    case 'everyone':
      return `everybody ${holding(relation, name, 'is', tense)}`;
    case 'userset':
      if (isAssignment(object)) return hasRole(groupOf(tuple?.user ?? '', nameOf), object, nameOf, tense);
      return `${manyOf(tuple?.user ?? '', nameOf)} ${holding(relation, name, 'are', tense)}`;
    case 'parent': {
      const parent = tuple?.user ?? '';
      const reason = isAssignment(parent)
        ? hasRole(user, parent, nameOf, tense)
        : premise(user, from ?? '', parent, nameOf, tense);
      return `${user} ${holding(relation, name, 'is', tense)} because ${reason}`;
    }
    case 'computed': {
      const reason = premise(user, from ?? '', object, nameOf, tense);
      return `${user} ${holding(relation, name, 'is', tense)} because ${reason}`;
    }
    case 'and':
      return `all of the following ${tense.hold}`;
    case 'but not':
      return `${user} ${tense.is} not excluded`;
  }
}

/** What would have to change, one sentence for each change. */
export function missingTexts(
  missing: MissingLink | undefined,
  user: string,
  nameOf: NameOf,
  tense = PRESENT,
): string[] {
  return [
    ...(missing?.add ?? []).map(({ relation, object }) =>
      isRoleOf(relation, object)
        ? `${user} ${tense.wouldHaveToHave} ${roleThatHelps(object, nameOf)}`
        : `${user} ${tense.wouldHaveToBe} ${oneOf(relation, object, nameOf)}`,
    ),
    ...(missing?.excludedBy ?? []).map(({ relation, object }) => {
      const obstacle = tense.obstacles[relation];
      return obstacle === undefined
        ? `${user} ${tense.mustNoLongerBe} ${oneOf(relation, object, nameOf)}`
        : fill(obstacle, groupOf(object, nameOf));
    }),
  ];
}

/**
 * The whole answer as a person would say it: "ann can connect to prod because ann is in the team Owners, and owners of
 * acme can connect to its clusters".
 */
export function sentenceFor(
  question: {
    readonly user: string;
    readonly relation: string;
    readonly object: string;
    readonly namespace?: string | undefined;
  },
  answer: { readonly allowed: boolean; readonly steps: readonly Step[]; readonly missing: readonly string[] },
  nameOf: NameOf,
  tense = PRESENT,
): string {
  const { user, namespace } = question;
  const where = namespace === undefined ? '' : ` in the namespace ${namespace}`;
  const action = `${doing(question.relation, nameOf(question.object))}${where}`;
  if (!answer.allowed) {
    return `${user} ${tense.cannot} ${action}${answer.missing.length > 0 ? `: ${answer.missing.join(', and ')}` : ''}`;
  }
  const reasons = reasonsOf(answer.steps, user, nameOf, tense);
  return `${user} ${tense.can} ${action}${reasons.length > 0 ? ` because ${enumerated(reasons)}` : ''}`;
}

/**
 * From the user to the object. Steps that only rename what a subject holds (an owner is an admin is an editor) say
 * nothing new, so of each such chain one sentence is left: what its first holder can do at its end.
 */
function reasonsOf(steps: readonly Step[], user: string, nameOf: NameOf, tense: Tense): string[] {
  const { can, has } = tense;
  const reasons: string[] = [];
  let holder: Holder | undefined;
  for (const { rule, relation, object, tuple, from = '' } of [...steps].reverse()) {
    const subject = tuple?.user ?? '';
    if (rule === 'direct') {
      reasons.push(fact(user, relation, object, nameOf, tense));
      const isWhole = relation === 'owner' || relation === 'identity' || isRoleOf(relation, object);
      holder = isWhole ? undefined : { relation, object };
    } else if (rule === 'userset' && isAssignment(object)) {
      reasons.push(hasRole(groupOf(subject, nameOf), object, nameOf, tense));
      holder = undefined;
    } else if (rule === 'userset' && object.startsWith('role:')) {
      reasons.push(`${groupOf(subject, nameOf)} ${has} the role ${nameOf(object)}`);
      holder = undefined;
    } else if (rule === 'userset' && subject.startsWith('role:')) {
      reasons.push(`holders of that role ${can} ${doing(relation, nameOf(object))}`);
      holder = undefined;
    } else if (rule === 'userset' && !subject.startsWith('organization:')) {
      holder = { relation, object };
    } else if (rule === 'parent' && holder !== undefined && isAction(from)) {
      reasons.push(
        `${holders(holder, nameOf)} ${can} ${holder.object === subject ? doingIt(from) : doing(from, nameOf(subject))}`,
      );
      holder = undefined;
    }
  }
  const [top] = steps;
  // No step led to another object since: say what the holder can do with this one.
  if (top !== undefined && holder !== undefined && isAction(top.relation)) {
    const action = holder.object === top.object ? doingIt(top.relation) : doing(top.relation, nameOf(top.object));
    reasons.push(`${holders(holder, nameOf)} ${can} ${action}`);
  }
  return [...new Set(reasons)];
}

interface Holder {
  readonly relation: string;
  readonly object: string;
}

function holders({ relation, object }: Holder, nameOf: NameOf): string {
  if (object.startsWith('platform:')) return 'site administrators';
  return `${HOLDERS[relation]?.[1] ?? `holders of ${relation}`} of ${nameOf(object)}`;
}

function isAssignment(object: string): boolean {
  return object.startsWith('assignment:');
}

function isRoleOf(relation: string, object: string): boolean {
  return relation === 'assignee' && (isAssignment(object) || object.startsWith('role:'));
}

/** An assignment is called after its role, its place and its end: "cluster-operator on prod until …". */
function hasRole(who: string, object: string, nameOf: NameOf, { has }: Tense): string {
  const name = nameOf(object);
  return name === object || name === HIDDEN ? `${who} ${has} a role there` : `${who} ${has} the role ${name}`;
}

function roleThatHelps(object: string, nameOf: NameOf): string {
  const name = nameOf(object);
  return name === object || name === HIDDEN ? 'a role that allows it' : `the role ${name}`;
}

/** What something else follows from: "ann owns acme", "ann can edit the clusters of acme". */
function premise(user: string, relation: string, object: string, nameOf: NameOf, tense: Tense): string {
  if (isAction(relation)) return `${user} ${holding(relation, nameOf(object), 'is', tense)}`;
  return fact(user, relation, object, nameOf, tense);
}

function fact(user: string, relation: string, object: string, nameOf: NameOf, tense: Tense): string {
  const { is, owns } = tense;
  if (isRoleOf(relation, object)) return hasRole(user, object, nameOf, tense);
  if (object.startsWith('platform:')) return `${user} ${is} a site administrator`;
  if (object.startsWith('team:') && relation === 'member') return `${user} ${is} in the team ${nameOf(object)}`;
  if (relation === 'owner') return `${user} ${owns} ${nameOf(object)}`;
  if (relation === 'identity') return `${user} ${is} this user`;
  return `${user} ${is} ${oneOf(relation, object, nameOf)}`;
}

function oneOf(relation: string, object: string, nameOf: NameOf): string {
  const type = object.startsWith('team:') && nameOf(object) !== object ? 'the team ' : '';
  return `${HOLDERS[relation]?.[0] ?? relation} of ${type}${nameOf(object)}`;
}

/** `team:4#member`: "members of the team operators". */
function manyOf(userset: string, nameOf: NameOf): string {
  const relation = userset.split('#')[1] ?? '';
  return `${HOLDERS[relation]?.[1] ?? relation} of ${groupOf(userset, nameOf)}`;
}

function groupOf(userset: string, nameOf: NameOf): string {
  const object = baseOf(userset);
  const name = nameOf(object);
  return name === object ? name : `the ${object.split(':')[0]} ${name}`;
}

function baseOf(userset: string): string {
  return userset.split('#')[0] ?? '';
}

function holding(relation: string, name: string, verb: 'is' | 'are', tense: Tense): string {
  if (isAction(relation)) return `${tense.can} ${doing(relation, name)}`;
  return `${tense[verb]} ${HOLDERS[relation]?.[verb === 'is' ? 0 : 1] ?? relation} of ${name}`;
}

function isAction(relation: string): boolean {
  return relation.startsWith('can_') || relation === 'remover' || relation === 'manager' || PARTS.has(relation);
}

function enumerated(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;
}
