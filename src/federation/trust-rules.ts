import { AppError, invalidField, missingRelation } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Once } from '../changes/write.ts';
import type { Person } from '../identity/callers.ts';
import { SCIM } from '../identity/scopes.ts';
import type { MaybeLimits } from '../identity/tokens/token-limits.ts';
import { readTokenRequest } from '../identity/tokens/token-request.ts';
import type { LimitReader, WantedLimits } from '../tokens/limit-request.ts';
import type { TrustRule, TrustRuleDraft } from './trust-rule.ts';
import { readTrustRule, type TrustRuleInput, type TrustTerms } from './trust-rule-input.ts';

export interface TrustRuleStore {
  /** Ordered by ID. */
  list(robotId: bigint): Promise<TrustRule[]>;
  create(robot: OwnedRobot, draft: TrustRuleDraft, actor: Actor, once?: Once<TrustRule>): Promise<TrustRuleOutcome>;
  /** Ends the tokens of the rule, unless only its name changes. */
  update(
    robot: OwnedRobot,
    id: bigint,
    decide: (current: TrustRule) => TrustRuleDraft,
    actor: Actor,
  ): Promise<TrustRuleOutcome>;
  /** With its tokens. */
  remove(robot: OwnedRobot, id: bigint, decide: (current: TrustRule) => void, actor: Actor): Promise<boolean>;
}

type TrustRuleOutcome = TrustRule | 'name taken' | undefined;

export interface OwnedRobot {
  readonly robotId: bigint;
  readonly ownerId: bigint;
}

/** A caller who changes the rules of a robot. Whether they may edit the robot has been checked before. */
export interface TrustCaller extends OwnedRobot {
  readonly person: Person;
  readonly scopes: readonly string[];
  readonly limits: MaybeLimits;
  /** When the caller's own token expires, if it does. */
  readonly until: Date | null;
  readonly actor: Actor;
}

/** A robot that does not exist yet has nothing. */
export type FileTrustCaller = Omit<TrustCaller, 'robotId' | 'actor'> & { readonly robotId: bigint | undefined };

/** Whether a user holds a relation on an organization. */
interface TrustJudge {
  holds(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    object: { readonly type: 'organization'; readonly id: bigint },
  ): Promise<boolean>;
}

interface Parts {
  readonly store: TrustRuleStore;
  readonly judge: TrustJudge;
  /** Rejects a caller who does not hold everything that the robot has. */
  readonly rejectGiving: (personId: bigint, organizationId: bigint, robotId: bigint) => Promise<void>;
  readonly limits: LimitReader;
  readonly terms: () => TrustTerms;
}

export type WantedTrustRule = TrustRuleInput & { readonly limits: WantedLimits | undefined };
export type TrustRules = ReturnType<typeof createTrustRules>;

/** As for stored tokens of robots: the minimum that is useful. */
const UNSAID = ['write:organization'];

/**
 * Which tokens of other issuers a robot accepts.
 *
 * 1. A rule is a way to get tokens for as long as it is there. So it is changed only with a credential that could do so for
 *    as long, and to change one is to give what the robot holds.
 * 2. Its tokens may do no more than the caller's credential could.
 */
export function createTrustRules({ store, judge, rejectGiving, limits, terms }: Parts) {
  return { list: store.list, get, create, update, remove, read, requireChange };

  /** By ID, otherwise by name. */
  async function get(robotId: bigint, idOrName: string): Promise<TrustRule> {
    const rules = await store.list(robotId);
    const found = rules.find(({ id }) => String(id) === idOrName) ?? rules.find(({ name }) => name === idOrName);
    if (!found) throw notFound();
    return found;
  }

  async function create(
    caller: TrustCaller,
    wanted: WantedTrustRule,
    now: Date,
    once?: Once<TrustRule>,
  ): Promise<TrustRule> {
    const draft = await draftFrom(caller, wanted, now);
    const made = await store.create(caller, draft, caller.actor, once);
    if (!made) throw new AppError('notFound', 'robot_ac does not exist', { reason: 'robot_not_found' });
    return settled(made);
  }

  /** Everything is replaced. What the request leaves out gets its default. */
  async function update(
    caller: TrustCaller,
    idOrName: string,
    wanted: WantedTrustRule,
    precondition: (current: TrustRule) => void,
    now: Date,
  ): Promise<TrustRule> {
    requireLasting(caller);
    const { id } = await get(caller.robotId, idOrName);
    const draft = await draftFrom(caller, wanted, now);
    const decide = (current: TrustRule) => {
      precondition(current);
      return draft;
    };
    return settled(await store.update(caller, id, decide, caller.actor));
  }

  /** This gives nothing, so the caller needs not hold what the robot has. */
  async function remove(caller: TrustCaller, idOrName: string, precondition: (current: TrustRule) => void) {
    requireLasting(caller);
    const { id } = await get(caller.robotId, idOrName);
    if (!(await store.remove(caller, id, precondition, caller.actor))) throw notFound();
  }

  async function draftFrom(caller: TrustCaller, wanted: WantedTrustRule, now: Date): Promise<TrustRuleDraft> {
    await requireTokens(caller);
    const draft = await read(caller, wanted, now);
    await requireGiving(caller, [draft]);
    return draft;
  }

  /** What the rule says. Whether the caller may store it is asked separately. */
  async function read(
    { person, ownerId }: Pick<TrustCaller, 'person' | 'ownerId'>,
    wanted: WantedTrustRule,
    now: Date,
  ): Promise<TrustRuleDraft> {
    const said = readTrustRule(wanted, terms());
    const within = await limits.read(person, wanted.limits, ownerId);
    const request = { name: said.name, scopes: wanted.scopes, expiresAt: null, limits: within };
    // Only such a credential may change rules.
    const held = { held: ['all'], heldUntil: null };
    const { scopes, limits: granted } = readTokenRequest(request, { ...held, unsaid: UNSAID, now, isForRobot: true });
    return { ...said, scopes, limits: granted };
  }

  /** For rules that are stored with other changes. None: they are only deleted. */
  async function requireChange(caller: FileTrustCaller, drafts: readonly TrustRuleDraft[]): Promise<void> {
    requireLasting(caller);
    if (drafts.length === 0) return;
    await requireTokens(caller);
    await requireGiving(caller, drafts);
  }

  async function requireTokens(caller: FileTrustCaller): Promise<void> {
    requireLasting(caller);
    await requireRelation(caller, 'create_tokens', 'a trust rule is a way to get tokens');
  }

  async function requireGiving(caller: FileTrustCaller, drafts: readonly TrustRuleDraft[]): Promise<void> {
    const { person, ownerId, robotId } = caller;
    if (drafts.some(({ scopes }) => scopes.includes(SCIM))) await requireOwner(caller);
    if (robotId !== undefined) await rejectGiving(person.id, ownerId, robotId);
  }

  async function requireRelation({ person, ownerId }: FileTrustCaller, what: string, why: string): Promise<void> {
    if (await judge.holds(person.id, ownerId, `can_${what}`, { type: 'organization', id: ownerId })) return;
    throw missingRelation(`${what}:org`, `: ${why}`);
  }

  /** A token with the scope `scim` can make any user an owner. */
  async function requireOwner({ person, ownerId }: FileTrustCaller): Promise<void> {
    if (await judge.holds(person.id, ownerId, 'owner', { type: 'organization', id: ownerId })) return;
    throw missingRelation('owner:org', ': only an owner can create a trust rule with the scope scim');
  }
}

/** Invariant 1. */
function requireLasting({ until, limits, scopes }: FileTrustCaller): void {
  if (limits !== undefined) {
    const message = 'a token that is limited to organizations or objects cannot change trust rules';
    throw new AppError('forbidden', message, { reason: 'token_limited' });
  }
  const advice = 'use a session, or a token with the scope all that does not expire';
  if (until !== null) {
    throw new AppError('forbidden', `a credential that expires cannot change trust rules: ${advice}`);
  }
  if (scopes.length !== 1 || scopes[0] !== 'all') {
    throw new AppError('forbidden', `this token may not do enough to change trust rules: ${advice}`);
  }
}

function settled(outcome: TrustRuleOutcome): TrustRule {
  if (outcome === undefined) throw notFound();
  if (outcome === 'name taken') {
    throw invalidField('name', 'name is taken by another trust rule of the robot account', 'name_taken');
  }
  return outcome;
}

function notFound(): AppError {
  return new AppError('notFound', 'trust rule does not exist', { reason: 'trust_rule_not_found' });
}
