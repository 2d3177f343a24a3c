import { type Limits, limitReached } from '../base/config/limits.ts';
import { AppError, missingRelation } from '../base/errors.ts';
import { isRobotPrincipal, subjectOfPrincipal } from '../changes/principal.ts';
import { GUARDRAIL_KINDS, type Guardrail, type GuardrailDraft, isSameStatement, namedIn } from './guardrail.ts';
import { aboutGuardrail, type GuardrailInput } from './guardrail-input.ts';
import { guardrailSentence } from './guardrail-text.ts';

/** A guardrail in a file: everything by name, in a fixed order. */
export interface GuardrailEntry {
  readonly name: string;
  readonly description: string;
  readonly enforce: boolean;
  readonly kind: Guardrail['kind'];
  readonly statement: {
    readonly users?: readonly string[];
    readonly robots?: readonly string[];
    readonly team?: string;
    readonly count?: number;
    readonly relation: string;
    readonly object: { readonly type: string; readonly name?: string };
  };
}

/** The guardrails of an organization at one moment, and what they name. */
export interface GuardrailsNow {
  readonly guardrails: readonly Guardrail[];
  readonly names: ReadonlyMap<string, string>;
}

/** A guardrail as a file says it. */
export type FileGuardrail = GuardrailInput & {
  readonly name: string;
  /** Its name before. */
  readonly was?: string | undefined;
};

/** A guardrail from a file, or why it cannot be stored. It may be stored already, about something that is gone. */
export interface WantedGuardrail {
  readonly input: FileGuardrail;
  readonly outcome: { readonly draft: GuardrailDraft } | { readonly fault: unknown };
}

export interface GuardrailPlan {
  readonly creates: readonly GuardrailDraft[];
  readonly updates: readonly { readonly current: Guardrail; readonly next: GuardrailDraft }[];
  readonly deletes: readonly Guardrail[];
  readonly unchanged: number;
  readonly unmanaged: readonly string[];
}

export interface GuardrailChange {
  readonly guardrail: string;
  readonly kind: 'create' | 'update' | 'delete';
  readonly words: readonly string[];
}

type Fault = (field: string, message: string) => void;
type Fields = Readonly<Record<string, unknown>>;

const KEYS = ['name', 'was', 'description', 'enforce', ...GUARDRAIL_KINDS];
const STATEMENT_KEYS = ['users', 'robots', 'team', 'count', 'relation', 'object'];
const OBJECT_KEYS = ['type', 'id', 'name'];

export function entryOf(guardrail: GuardrailDraft, names: ReadonlyMap<string, string>): GuardrailEntry {
  const { kind, userIds, teamId, relation, objectType, objectId, count, name, description, enforce } = guardrail;
  const nameOf = (object: string) => names.get(object) ?? guardrail.names[object] ?? object;
  const robots = userIds.filter(isRobotPrincipal);
  const users = userIds.filter((id) => !robots.includes(id));
  // The organization of the file is named once, at its top.
  const isNamed = objectId !== undefined && objectType !== 'organization';
  return {
    name,
    description,
    enforce,
    kind,
    statement: {
      ...(users.length > 0 && { users: users.map((id) => nameOf(subjectOfPrincipal(id))).sort() }),
      ...(robots.length > 0 && { robots: robots.map((id) => nameOf(subjectOfPrincipal(id))).sort() }),
      ...(teamId !== undefined && { team: nameOf(`team:${teamId}`) }),
      ...(count !== undefined && { count }),
      relation,
      object: { type: objectType, ...(isNamed && { name: nameOf(`${objectType}:${objectId}`) }) },
    },
  };
}

/** Reads parsed JSON or YAML. Nothing unknown is ignored, because it may be a typo. */
export function readGuardrail(given: unknown, path: string, fault: Fault): FileGuardrail {
  const fields = fieldsOf(given);
  if (!fields) fault(path, 'must be a guardrail with a name');
  const entry = fields ?? {};
  rejectOthers(entry, path, KEYS, fault);
  const name = textIn(entry, path, 'name', fault);
  if (fields && name === undefined) fault(`${path}.name`, 'is required');
  const kinds = GUARDRAIL_KINDS.filter((kind) => entry[kind] !== undefined);
  const [kind] = kinds;
  if (fields && kinds.length !== 1) fault(path, `must have exactly one of ${GUARDRAIL_KINDS.join(', ')}`);
  return {
    name: name ?? '',
    was: textIn(entry, path, 'was', fault),
    description: textIn(entry, path, 'description', fault) ?? '',
    enforce: flagIn(entry, path, fault),
    statement: kind && { kind, ...readStatement(entry[kind], `${path}.${kind}`, fault) },
  };
}

function readStatement(given: unknown, path: string, fault: Fault) {
  const fields = fieldsOf(given);
  if (!fields) fault(path, 'must be a statement with a relation');
  const entry = fields ?? {};
  rejectOthers(entry, path, STATEMENT_KEYS, fault);
  const { users = [], robots = [], team, count, object } = entry;
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((one) => typeof one === 'string');
  const [areNames, areRobots] = [areTexts(users), areTexts(robots)];
  if (!areNames) fault(`${path}.users`, 'must be a list of login names');
  if (!areRobots) fault(`${path}.robots`, 'must be a list of names of robots');
  if (count !== undefined && typeof count !== 'number') fault(`${path}.count`, 'must be a number');
  return {
    users: areNames ? (users as string[]) : [],
    robots: areRobots ? (robots as string[]) : [],
    team: team === undefined ? undefined : textIn(entry, path, 'team', fault),
    count: typeof count === 'number' ? count : undefined,
    relation: textIn(entry, path, 'relation', fault) ?? '',
    object: object === undefined ? undefined : readObject(object, `${path}.object`, fault),
  };
}

function readObject(given: unknown, path: string, fault: Fault) {
  const fields = fieldsOf(given);
  if (!fields) fault(path, 'must have a type');
  const entry = fields ?? {};
  rejectOthers(entry, path, OBJECT_KEYS, fault);
  const { id } = entry;
  const isId = typeof id === 'bigint' || (Number.isSafeInteger(id) && Number(id) > 0);
  if (id !== undefined && !isId) fault(`${path}.id`, 'must be an ID');
  return {
    type: textIn(entry, path, 'type', fault) ?? '',
    name: textIn(entry, path, 'name', fault),
    id: isId ? BigInt(id as number | bigint) : undefined,
  };
}

function textIn(fields: Fields, path: string, key: string, fault: Fault): string | undefined {
  const found = fields[key] ?? undefined;
  if (found === undefined || typeof found === 'string') return found;
  fault(`${path}.${key}`, 'must be a string');
  return '';
}

function flagIn({ enforce = true }: Fields, path: string, fault: Fault): boolean {
  if (typeof enforce !== 'boolean') fault(`${path}.enforce`, 'must be true or false');
  return enforce === true;
}

function rejectOthers(fields: Fields, path: string, known: readonly string[], fault: Fault): void {
  for (const key of Object.keys(fields)) {
    if (known.includes(key)) continue;
    fault(`${path}.${key.slice(0, 100)}`, `is not a known field; known fields are ${known.join(', ')}`);
  }
}

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Guardrails are matched by name, ignoring case, or by their former name. */
export function planGuardrails(
  { guardrails, names }: GuardrailsNow,
  wanted: readonly WantedGuardrail[],
  prunes: boolean,
): GuardrailPlan {
  const known = new Map(guardrails.map((guardrail) => [guardrail.name.toLowerCase(), guardrail]));
  const creates: GuardrailDraft[] = [];
  const updates: { current: Guardrail; next: GuardrailDraft }[] = [];
  let unchanged = 0;
  const [seen, taken] = [new Set<string>(), new Set<Guardrail>()];
  for (const [place, { input, outcome }] of wanted.entries()) {
    const key = input.name.toLowerCase();
    if (seen.has(key)) throw new AppError('malformed', `two guardrails are called ${JSON.stringify(input.name)}`);
    seen.add(key);
    const former = input.was === undefined ? undefined : known.get(input.was.toLowerCase());
    const current = known.get(key) ?? former;
    if (former && current !== former) {
      const names = `both ${JSON.stringify(input.name)} and ${JSON.stringify(input.was)} exist`;
      throw aboutGuardrail(input.name, place, new AppError('malformed', names));
    }
    if (current && taken.has(current)) {
      throw new AppError('malformed', `two guardrails are ${JSON.stringify(current.name)}`);
    }
    if (current) taken.add(current);
    // What it names may be gone, and then cannot be found by its name any more.
    if (current && isWritten(current, names, input)) unchanged++;
    else if ('fault' in outcome) throw aboutGuardrail(input.name, place, outcome.fault);
    else if (!current) creates.push(outcome.draft);
    else if (isSame(current, outcome.draft)) unchanged++;
    else updates.push({ current, next: outcome.draft });
  }
  const others = guardrails.filter((guardrail) => !taken.has(guardrail));
  return {
    creates,
    updates,
    deletes: prunes ? others : [],
    unchanged,
    unmanaged: prunes ? [] : others.map(({ name }) => name).sort(),
  };
}

function isWritten(current: Guardrail, names: ReadonlyMap<string, string>, input: GuardrailInput): boolean {
  const { name, description, enforce, kind, statement } = entryOf(current, names);
  const given = input.statement;
  if (!given || input.name !== name || input.description !== description || input.enforce !== enforce) return false;
  const { users = [], robots = [], team, count, relation, object = { type: 'organization' } } = given;
  const wanted = [
    given.kind,
    [...users].sort(),
    [...robots].sort(),
    team,
    count,
    relation,
    object.type,
    object.name,
    object.id,
  ];
  const { object: own } = statement;
  const { users: ownUsers = [], robots: ownRobots = [] } = statement;
  const about = [kind, ownUsers, ownRobots, statement.team];
  const stored = [...about, statement.count, statement.relation, own.type, own.name];
  return JSON.stringify(wanted) === JSON.stringify([...stored, undefined]);
}

function isSame(one: GuardrailDraft, other: GuardrailDraft): boolean {
  return one.name === other.name && one.description === other.description && isSameStatement(one, other);
}

export function rejectUnallowedGuardrails(plan: GuardrailPlan, held: ReadonlySet<string>): void {
  const count = plan.creates.length + plan.updates.length + plan.deletes.length;
  if (count > 0 && !held.has('can_edit_roles')) throw missingRelation('edit_roles:org');
}

export function requireRoomForGuardrails(
  { creates, deletes }: GuardrailPlan,
  { guardrails }: GuardrailsNow,
  { guardrailsPerOrganization: max }: Pick<Limits, 'guardrailsPerOrganization'>,
): void {
  const after = guardrails.length + creates.length - deletes.length;
  if (after > max && after > guardrails.length) {
    throw limitReached('guardrailsPerOrganization', max, guardrails.length);
  }
}

/** The plan in readable form, sorted by name. */
export function guardrailWords(plan: GuardrailPlan, names: ReadonlyMap<string, string>): GuardrailChange[] {
  const said = (draft: GuardrailDraft) =>
    guardrailSentence(draft, (object) => names.get(object) ?? draft.names[object] ?? object);
  const changes: GuardrailChange[] = [
    ...plan.creates.map((next) => ({
      guardrail: next.name,
      kind: 'create' as const,
      words: [`+ ${said(next)}`, ...(next.enforce ? [] : ['only watched'])],
    })),
    ...plan.updates.map(({ current, next }) => ({
      guardrail: next.name,
      kind: 'update' as const,
      words: [
        ...(current.name === next.name ? [] : [`name ${JSON.stringify(current.name)} → ${JSON.stringify(next.name)}`]),
        ...(current.description === next.description ? [] : [`description ${JSON.stringify(next.description)}`]),
        ...(said(current) === said(next) ? [] : [`- ${said(current)}`, `+ ${said(next)}`]),
        ...(current.enforce === next.enforce ? [] : [next.enforce ? 'now enforced' : 'now only watched']),
      ],
    })),
    ...plan.deletes.map((one) => ({ guardrail: one.name, kind: 'delete' as const, words: [`- ${said(one)}`] })),
  ];
  return changes.sort((a, b) => (a.guardrail.toLowerCase() < b.guardrail.toLowerCase() ? -1 : 1));
}

/** Everything that these guardrails name, so that its names can be looked up. */
export function namedInAll(guardrails: readonly Guardrail[]): string[] {
  return [...new Set(guardrails.flatMap(namedIn))];
}
