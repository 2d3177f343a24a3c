/**
 * The guardrails of an organization while changes are tried out in a copy of it: what the guard of writes would say to
 * each of them. It works as that one does, but nothing is written.
 */

import type { Model } from '../../packages/rebac/src/rebac.ts';
import type { ExplainStore } from '../authz/explain/question.ts';
import type { Graphs } from '../authz/graphs.ts';
import { subjectOfPrincipal } from '../changes/principal.ts';
import { type OrganizationCopy, readOrganization, type Undo } from '../simulation/organization-copy.ts';
import { type Guardrail, isSameStatement, namedIn, type Violations } from './guardrail.ts';
import { type GuardrailPlan, type GuardrailsNow, namedInAll } from './guardrail-file.ts';
import type { GuardrailStore } from './guardrails.ts';
import {
  ignoreDeletedUsers,
  type NewViolation,
  newViolations,
  type Sees,
  type ToldViolation,
  toldOf,
  viewOf,
} from './new-violations.ts';
import { violationsAmong } from './violations.ts';

/** What is called otherwise than in the database by now. */
export type KnownNames = ReadonlyMap<string, string>;

/** Changes something in the copy, and returns how to take it back. */
export type Step = (copy: OrganizationCopy) => readonly Undo[];

interface GuardrailCheckParts {
  readonly store: Pick<GuardrailStore, 'list'>;
  readonly living: (userIds: readonly bigint[]) => Promise<readonly bigint[]>;
  readonly names: Pick<ExplainStore, 'names'>;
  readonly graphs: Pick<Graphs, 'eachTuple'>;
  readonly model: Model;
}

interface GuardrailCheckOptions {
  /** Without one, the organization is copied if there are guardrails. */
  readonly copy?: OrganizationCopy;
  /** The changes may be about the guardrails themselves. */
  readonly isForFile?: boolean;
}

export type GuardrailChecks = ReturnType<typeof createGuardrailChecks>;
export type GuardrailCheck = NonNullable<Awaited<ReturnType<GuardrailChecks['open']>>>;

export function createGuardrailChecks({ store, living, names, graphs, model }: GuardrailCheckParts) {
  return { open };

  /** Before anything is changed in the copy. Undefined if there are no guardrails. */
  async function open(
    organizationId: bigint,
    callerId: bigint,
    { copy, isForFile = false }: GuardrailCheckOptions = {},
  ) {
    const { guardrails, violations } = await store.list(organizationId);
    if (guardrails.length === 0 && !isForFile) return undefined;
    // In the order in which a write is inspected.
    const rules = guardrails.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    const tried = copy ?? (await (await readOrganization(graphs, organizationId)).copy(model));
    return createGuardrailCheck(rules, violations, { organizationId, callerId, copy: tried });
  }

  function createGuardrailCheck(
    storedRules: readonly Guardrail[],
    storedViolations: Violations,
    { organizationId, callerId, copy }: { organizationId: bigint; callerId: bigint; copy: OrganizationCopy },
  ) {
    let rules = storedRules;
    let atFirst = storedViolations;
    let known = storedViolations;
    let version = copy.version;
    let created = 0n;
    const caller = copy.people.classOf(subjectOfPrincipal(callerId));
    const isReader = copy.answers.relationsOn(caller, `organization:${organizationId}`).includes('can_view_roles');
    /** What the caller may see before the changes. */
    const seen = new Set(['user:', ...rules.flatMap(namedIn).map(kindOf)].filter(sees()));
    return {
      copy,

      /** The guardrails as they are by now. */
      async present(): Promise<GuardrailsNow> {
        return { guardrails: rules, names: await names.names(namedInAll(rules)) };
      },

      /** What the changes since the last call, and of these guardrails, would be rejected for, the first one first. */
      async rejected(renamed: KnownNames, plan?: GuardrailPlan): Promise<ToldViolation[]> {
        if (plan) adopt(plan);
        const before = known;
        if (plan || copy.version !== version) await look();
        return await told(newViolations(enforced(), before, known), sees(), renamed);
      },

      /** The same for changes that are made one after the other, and then taken back. */
      async wouldReject(steps: readonly Step[]): Promise<ToldViolation | undefined> {
        const undo: Undo[] = [];
        try {
          let before = known;
          for (const step of steps) {
            undo.push(...step(copy));
            const after = await violations();
            const [first] = await told(newViolations(enforced(), before, after).slice(0, 1), sees(), new Map());
            if (first) return first;
            before = after;
          }
          return undefined;
        } finally {
          for (const back of undo.reverse()) back();
        }
      },

      /** What holds less than at first, also if it is only watched. Nothing, if the caller may not see guardrails. */
      async outcome(renamed: KnownNames): Promise<ToldViolation[]> {
        if (copy.version !== version) await look();
        const saw = (object: string) => object === subjectOfPrincipal(callerId) || seen.has(kindOf(object));
        return isReader ? await told(newViolations(rules, atFirst, known), saw, renamed) : [];
      },
    };

    function sees(): Sees {
      return viewOf(copy, organizationId, callerId);
    }

    function enforced(): Guardrail[] {
      return rules.filter(({ enforce }) => enforce);
    }

    async function violations(): Promise<Violations> {
      return await ignoreDeletedUsers(rules, await violationsAmong(copy, rules), living);
    }

    async function look(): Promise<void> {
      version = copy.version;
      known = await violations();
    }

    /** What was known about another statement is not about this one. What is new comes last, as its ID will be. */
    function adopt({ creates, updates, deletes }: GuardrailPlan): void {
      const gone = new Set(deletes.map(({ id }) => id));
      const next = new Map(updates.map(({ current, next: draft }) => [current.id, { ...current, ...draft }]));
      const restated = updates.filter(({ current, next: draft }) => !isSameStatement(current, draft));
      const now = new Date();
      const fresh = creates.map((draft): Guardrail => {
        const unstored = { id: --created, organizationId, version: 1, statement: 1, createdAt: now, updatedAt: now };
        return { ...draft, ...unstored };
      });
      rules = [...rules.filter(({ id }) => !gone.has(id)).map((rule) => next.get(rule.id) ?? rule), ...fresh];
      const forgotten = new Set([...gone, ...restated.map(({ current }) => current.id)]);
      const isAbout = ([id]: readonly [bigint, unknown]) => !forgotten.has(id);
      atFirst = new Map([...atFirst].filter(isAbout));
      known = new Map([...known].filter(isAbout));
      for (const object of rules.flatMap(namedIn).map(kindOf).filter(sees())) seen.add(object);
    }

    async function told(list: readonly NewViolation[], saw: Sees, renamed: KnownNames): Promise<ToldViolation[]> {
      const namesOf = async (objects: readonly string[]) => new Map([...(await names.names(objects)), ...renamed]);
      const found: ToldViolation[] = [];
      for (const one of list) found.push(await toldOf(one, saw, namesOf));
      return found;
    }
  }
}

/** A caller who sees one member sees all of them. */
function kindOf(object: string): string {
  return object.startsWith('user:') ? 'user:' : object;
}
