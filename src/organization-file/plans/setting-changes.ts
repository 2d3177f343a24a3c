import { AppError, missingRelation } from '../../base/errors.ts';
import type { RequestRule } from '../../requests/rules/request-rule.ts';
import { presentRule } from '../../requests/rules/request-rules.routes.ts';
import type { createRequestRules } from '../../requests/rules/request-rules.ts';
import type { Plan } from '../../roles/role-plan.ts';
import type { CallerRights } from '../caller-rights.ts';
import type { OrganizationDocument, TokenPolicyEntry } from '../organization-document.ts';
import type { OrganizationNow, StoredTokenPolicy } from '../organization-now.ts';
import type { FileChange } from './file-change.ts';
import type { FileCaller, OrganizationPlan } from './organization-plan.ts';
import type { TeamPlan } from './team-plan.ts';

interface Setting {
  readonly requestRules: Pick<ReturnType<typeof createRequestRules>, 'read'>;
  readonly caller: FileCaller;
  readonly rights: CallerRights;
  readonly teams: TeamPlan;
  readonly roles: Plan;
}

type Made = Pick<OrganizationPlan, 'requestRules' | 'tokenPolicy' | 'secondFactor'>;

/** Sections that are not lists of things with names: what of them is new. */
export async function settingChanges(
  now: OrganizationNow,
  { requestRules, tokenPolicy, secondFactor }: OrganizationDocument,
  setting: Setting,
): Promise<{ readonly changes: readonly FileChange[]; readonly made: Made }> {
  const { caller, rights } = setting;
  const rules = requestRules && (await readRules(requestRules, setting));
  const policy = tokenPolicy && policyAfter(now.tokenPolicy, tokenPolicy);
  const isOther = (one: unknown, other: unknown) => JSON.stringify(one) !== JSON.stringify(other);
  const made: Made = {
    requestRules: rules && isOther(shown(rules), shown(now.requestRules)) ? rules : undefined,
    tokenPolicy: policy && isOther(policy, now.tokenPolicy) ? policy : undefined,
    secondFactor: secondFactor && secondFactor.required !== now.secondFactor ? secondFactor : undefined,
  };
  const requireEditor = () => {
    rights.require('can_edit', 'edit:org');
    rights.requireProof();
  };
  const changes: FileChange[] = [
    ...change('request_rules', made.requestRules, (list) => ruleWords(now.requestRules, list), requireOwner),
    ...change(
      'token_policy',
      made.tokenPolicy,
      ({ maxDays, expiryRequired }) => [`max_days ${maxDays}`, `expiry_required ${expiryRequired}`],
      requireEditor,
    ),
    ...change('second_factor', made.secondFactor, ({ required }) => [`required ${required}`], requireFactor),
  ];
  return { changes, made };

  function requireOwner(): void {
    if (!rights.isOwner) throw missingRelation('owner');
    if (!caller.isRobot) return;
    throw new AppError('forbidden', 'robots do not change request rules', { reason: 'not_for_robots' });
  }

  function requireFactor(): void {
    requireEditor();
    if (secondFactor?.required && !caller.hasSecondFactor) {
      throw new AppError('conflict', 'add a second factor for yourself before you require one of others');
    }
  }
}

/** What the file leaves out stays. */
function policyAfter(now: StoredTokenPolicy, { maxDays, expiryRequired }: TokenPolicyEntry): StoredTokenPolicy {
  return {
    maxDays: maxDays === undefined ? now.maxDays : maxDays,
    expiryRequired: expiryRequired ?? now.expiryRequired,
  };
}

function change<T>(
  section: FileChange['section'],
  next: T | undefined,
  words: (next: T) => readonly string[],
  rule: () => void,
): FileChange[] {
  return next === undefined ? [] : [{ section, name: section, kind: 'update', words: words(next), rule }];
}

async function readRules(
  inputs: NonNullable<OrganizationDocument['requestRules']>,
  { requestRules, caller, teams, roles }: Setting,
): Promise<RequestRule[]> {
  const created = {
    role: [...roles.creates, ...roles.updates.map(({ next }) => next)].map(({ name }) => name),
    team: teams.teams.map(({ name }) => name),
  };
  try {
    return await requestRules.read(caller.organizationId, inputs, created);
  } catch (error) {
    if (!(error instanceof AppError) || !error.detail.errors) throw error;
    const errors = error.detail.errors.map(({ field, message }) => ({ field: `request_rules${field}`, message }));
    throw new AppError(error.kind, `request_rules: ${error.message}`, { ...error.detail, errors });
  }
}

function shown(rules: readonly RequestRule[]): unknown[] {
  return rules.map((rule) => JSON.parse(textOf(rule)));
}

function ruleWords(before: readonly RequestRule[], after: readonly RequestRule[]): string[] {
  const [old, next] = [before, after].map((rules) => new Map(rules.map((rule) => [rule.name, textOf(rule)])));
  const names = (one: typeof old, other: typeof old) => [...(one ?? [])].filter(([name]) => !other?.has(name));
  return [
    ...names(next, old).map(([name]) => `+ ${name}`),
    ...names(old, next).map(([name]) => `- ${name}`),
    ...[...(next ?? [])]
      .filter(([name, text]) => old?.has(name) && old.get(name) !== text)
      .map(([name]) => `~ ${name}`),
    ...(before.map(({ name }) => name).join('\n') === after.map(({ name }) => name).join('\n')
      ? []
      : ['in another order']),
  ];
}

function textOf(rule: RequestRule): string {
  return JSON.stringify(presentRule(rule), (_key, value) => (typeof value === 'bigint' ? String(value) : value));
}
