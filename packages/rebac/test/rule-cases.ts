import type { Tuple } from '../src/tuple.ts';

/** A model of types and relations, without the keywords that are always the same. */
export function textOf(body: string): string {
  const lines = body
    .trim()
    .split('\n')
    .map((line) => {
      const text = line.trim();
      if (text.startsWith('condition')) return text;
      return text.includes(':') ? `    define ${text}` : `type ${text}\n  relations`;
    });
  return `model\n  schema 1.1\ntype user\ntype employee\n${lines.join('\n')}\n`;
}

/** `object#relation@user`, with the name and the context of a condition after it. */
export function tuplesOf(lines: readonly string[]): Tuple[] {
  return lines.map((line) => {
    const [, object = '', relation = '', user = '', name, context] =
      /^(\S+?)#(\S+?)@(\S+)(?: (\w+)(?: (.*))?)?$/.exec(line) ?? [];
    const condition = name ? { name, ...(context ? { context: JSON.parse(context) } : {}) } : undefined;
    return { object, relation, user, condition };
  });
}

export interface RuleCase {
  /** A sentence. */
  readonly name: string;
  readonly stored: readonly string[];
  readonly contextual?: readonly string[];
  readonly question: string;
  readonly due: boolean | number;
}

/**
 * For a relation that refers to itself, and otherwise to users only, OpenFGA has a second resolver, which does not notice
 * circles; its planner takes the one or the other. The teams keep the planner from that, so that OpenFGA always denies.
 */
export const CIRCLE_MODEL = textOf(`
  team
    member: [user]
  group
    rb: [group#rb, user, team#member]
    ra: [user] but not rb
  folder
    parent: [folder]
    hidden: [user, team#member] or hidden from parent
    viewer: [user, employee] but not hidden
    reader: viewer and hidden
    seen: [user] but not reader
    twice: [user] but not viewer
  doc
    blocked: [user, group#rb]
    parent: [folder]
    viewer: [user] but not blocked
    inherited: viewer or viewer from parent
`);

/** A circle of two groups, and a third group below it. */
export const RING = ['group:1#rb@group:2#rb', 'group:2#rb@group:1#rb', 'group:3#rb@group:2#rb'];

export const CIRCLE_CASES: readonly RuleCase[] = [
  rule('A circle of usersets behind but not denies', [...RING, 'group:3#ra@user:a'], 'group:3#ra@user:a', false),
  rule(
    'A member of a circle behind but not is denied',
    [...RING, 'group:1#rb@user:a', 'group:3#ra@user:a'],
    'group:3#ra@user:a',
    false,
  ),
  rule(
    'A direct exclusion besides a circle denies',
    [...RING, 'group:3#rb@user:a', 'group:3#ra@user:a'],
    'group:3#ra@user:a',
    false,
  ),
  rule('A circle that is not reached changes nothing', [...RING, 'group:4#ra@user:a'], 'group:4#ra@user:a', true),
  rule('A circle without but not is simply empty', RING, 'group:3#rb@user:a', false),
  rule('A circle without but not grants what it contains', [...RING, 'group:1#rb@user:a'], 'group:3#rb@user:a', true),
  rule(
    'A circle of teams behind but not denies on another object',
    [...RING, 'doc:1#blocked@group:3#rb', 'doc:1#viewer@user:a'],
    'doc:1#viewer@user:a',
    false,
  ),
  rule(
    'A chain of teams without a circle excludes nobody',
    [...RING.slice(2), 'doc:1#blocked@group:3#rb', 'doc:1#viewer@user:a'],
    'doc:1#viewer@user:a',
    true,
  ),
  rule(
    'A circle of parents behind but not denies',
    ['folder:1#parent@folder:2', 'folder:2#parent@folder:1', 'folder:1#viewer@user:a'],
    'folder:1#viewer@user:a',
    false,
  ),
  rule(
    'An object that is its own parent denies behind but not',
    ['folder:1#parent@folder:1', 'folder:1#viewer@user:a'],
    'folder:1#viewer@user:a',
    false,
  ),
  rule(
    'A circle above the object denies behind but not',
    ['folder:0#parent@folder:1', 'folder:1#parent@folder:1', 'folder:0#viewer@user:a'],
    'folder:0#viewer@user:a',
    false,
  ),
  rule(
    'A union of a circle with another path is granted',
    ['folder:1#parent@folder:1', 'folder:1#viewer@user:a', 'doc:1#parent@folder:1', 'doc:1#viewer@user:a'],
    'doc:1#inherited@user:a',
    true,
  ),
  rule(
    'A union of nothing but circles behind but not is denied',
    ['folder:1#parent@folder:1', 'folder:1#viewer@user:a', 'doc:1#parent@folder:1'],
    'doc:1#inherited@user:a',
    false,
  ),
  rule(
    'An exclusion of an exclusion that a circle leaves open denies',
    ['folder:1#parent@folder:1', 'folder:1#viewer@user:a', 'folder:1#twice@user:a'],
    'folder:1#twice@user:a',
    false,
  ),
  rule(
    'An intersection that a circle leaves open denies behind but not',
    ['folder:1#parent@folder:1', 'folder:1#viewer@user:a', 'folder:1#seen@user:a'],
    'folder:1#seen@user:a',
    false,
  ),
  rule('A grant over 24 parents is found', [...parents(24), 'folder:24#hidden@user:a'], 'folder:0#hidden@user:a', true),
  rule(
    'A grant over 25 parents is too complex',
    [...parents(25), 'folder:25#hidden@user:a'],
    'folder:0#hidden@user:a',
    2002,
  ),
  rule(
    'An exclusion over 24 parents is ruled out',
    [...parents(24), 'folder:0#viewer@user:a'],
    'folder:0#viewer@user:a',
    true,
  ),
  rule(
    'An exclusion over 25 parents is too complex to rule out',
    [...parents(25), 'folder:0#viewer@user:a'],
    'folder:0#viewer@user:a',
    2002,
  ),
  rule(
    'A circle to which the model has no path from the type of the user is ignored',
    ['folder:1#parent@folder:1', 'folder:1#viewer@employee:e'],
    'folder:1#viewer@employee:e',
    true,
  ),
];

/** folder:0 is in folder:1, and so on. */
function parents(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `folder:${i}#parent@folder:${i + 1}`);
}

function rule(name: string, stored: readonly string[], question: string, due: boolean | number): RuleCase {
  return { name, stored, question, due };
}

export const FAULT_MODEL = textOf(`
  team
    member: [user]
  group
    blocked: [employee]
    member: [user, user with cb]
    circle: [group#circle, user, user with cb, team#member]
    all: [user] but not circle
    both: member and circle
  doc
    par: [group, group with cb]
    rb: blocked from par
    rc: [user] but not rb
    rd: [employee] but not rb
    v: [user, user with cb, user:*, user:* with cb, group#member, group#member with cb]
    w: member from par
    x: v but not w
    y: (v and w) or x
    only: [user with cb] but not w
    never: [user with cb] but not v
    first: [user with cb] and v
    condition cb(ok: bool) { ok }
`);

const FAULTY_RING = ['group:1#circle@group:2#circle', 'group:2#circle@group:1#circle'];

export const FAULT_CASES: readonly RuleCase[] = [
  rule(
    'A failing condition on a parent is ignored behind but not, if no path leads there',
    ['doc:1#par@group:1 cb', 'doc:1#rc@user:a'],
    'doc:1#rc@user:a',
    true,
  ),
  rule(
    'A failing condition on a parent is ignored, if no path leads there',
    ['doc:1#par@group:1 cb'],
    'doc:1#rb@user:a',
    false,
  ),
  rule(
    'A failing condition on a parent is ignored for everybody, if no path leads there',
    ['doc:1#par@group:1 cb'],
    'doc:1#rb@user:*',
    false,
  ),
  rule(
    'A failing condition on a parent is heard, if a path leads there',
    ['doc:1#par@group:1 cb'],
    'doc:1#rb@employee:e',
    2000,
  ),
  rule(
    'A failing condition on a parent is heard behind but not, if a path leads there',
    ['doc:1#par@group:1 cb', 'doc:1#rd@employee:e'],
    'doc:1#rd@employee:e',
    2000,
  ),
  rule(
    'A failing condition of a group is not heard, if the condition of another group holds in the same relation',
    ['doc:1#v@group:1#member cb', 'doc:1#v@group:2#member cb {"ok":true}', 'group:2#member@user:b'],
    'doc:1#v@user:a',
    false,
  ),
  rule(
    'A failing condition is heard, if a condition holds in another relation only',
    ['doc:1#par@group:1 cb', 'doc:1#v@group:1#member cb {"ok":true}'],
    'doc:1#rb@employee:e',
    2000,
  ),
  rule(
    'A failing condition is heard in spite of a circle in the same union',
    [...FAULTY_RING, 'group:1#circle@user:a cb'],
    'group:1#circle@user:a',
    2000,
  ),
  rule(
    'A failing condition of another user is not heard in a circle',
    [...FAULTY_RING, 'group:1#circle@user:a cb'],
    'group:1#circle@user:b',
    false,
  ),
  rule(
    'A circle denies behind but not, where another user would meet a failing condition',
    [...FAULTY_RING, 'group:1#circle@user:a cb', 'group:1#all@user:b'],
    'group:1#all@user:b',
    false,
  ),
  rule(
    'A circle denies in an intersection with a failing condition',
    [...FAULTY_RING, 'group:1#member@user:a cb'],
    'group:1#both@user:a',
    false,
  ),
  rule(
    'A failing condition next to a circle is heard behind but not',
    [...FAULTY_RING, 'group:1#circle@user:a cb', 'group:1#all@user:a'],
    'group:1#all@user:a',
    2000,
  ),
];

const NOT_OK = 'cb {"ok":false}';

export const CONTEXTUAL_CASES: readonly RuleCase[] = [
  contextually(
    'A stored grant is replaced by a contextual one whose condition is false',
    ['doc:1#v@user:a'],
    [`doc:1#v@user:a ${NOT_OK}`],
    'doc:1#v@user:a',
    false,
  ),
  contextually(
    'A stored grant is replaced by a contextual one whose condition fails',
    ['doc:1#v@user:a'],
    ['doc:1#v@user:a cb'],
    'doc:1#v@user:a',
    2000,
  ),
  contextually(
    'A stored condition is replaced by a contextual grant',
    [`doc:1#v@user:a ${NOT_OK}`],
    ['doc:1#v@user:a'],
    'doc:1#v@user:a',
    true,
  ),
  contextually(
    'A stored condition that fails is replaced by a contextual one that is false',
    ['doc:1#v@user:a cb'],
    [`doc:1#v@user:a ${NOT_OK}`],
    'doc:1#v@user:a',
    false,
  ),
  contextually(
    'A contextual tuple does not replace that of another user',
    ['doc:1#v@user:a'],
    [`doc:1#v@user:b ${NOT_OK}`],
    'doc:1#v@user:a',
    true,
  ),
  contextually(
    'A contextual tuple does not replace another relation',
    ['doc:1#v@user:a'],
    [`doc:1#only@user:a ${NOT_OK}`],
    'doc:1#v@user:a',
    true,
  ),
  contextually(
    'A contextual tuple replaces what excludes a user',
    ['group:1#member@user:a', 'doc:1#par@group:1', 'doc:1#v@user:a'],
    [`group:1#member@user:a ${NOT_OK}`],
    'doc:1#x@user:a',
    true,
  ),
  contextually(
    'Of a userset, the stored and the contextual tuple count',
    ['doc:1#v@group:1#member', 'group:1#member@user:a'],
    [`doc:1#v@group:1#member ${NOT_OK}`],
    'doc:1#v@user:a',
    true,
  ),
  contextually(
    'Of a parent, the stored and the contextual tuple count',
    ['doc:1#par@group:1', 'group:1#member@user:a'],
    [`doc:1#par@group:1 ${NOT_OK}`],
    'doc:1#w@user:a',
    true,
  ),
  contextually(
    'Of everybody, the stored and the contextual tuple count',
    ['doc:1#v@user:*'],
    [`doc:1#v@user:* ${NOT_OK}`],
    'doc:1#v@user:a',
    true,
  ),
];

function contextually(
  name: string,
  stored: readonly string[],
  contextual: readonly string[],
  question: string,
  due: boolean | number,
): RuleCase {
  return { name, stored, contextual, question, due };
}
