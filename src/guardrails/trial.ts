/**
 * The guardrails of an organization while changes are tried out: what the guard of writes would say to each of them.
 * It works as that one does, on a graph of its own, but nothing is written.
 */
import type { ExplainStore } from '../authz/explain/explain.ts';
import { createPace } from '../base/slices.ts';
import { STRUCTURE_TYPES } from '../changes/object-kinds.ts';
import type { Model } from '../rebac/model.ts';
import type { Tuple } from '../rebac/tuple.ts';
import { GUARDED_TYPES, type Guardrail, isSameStatement, namedIn, type Violations } from './guardrail.ts';
import { type GuardrailPlan, type GuardrailsNow, namedInAll } from './guardrail-file.ts';
import type { GuardrailStore } from './guardrails.ts';
import { PeopleGraph, type SourcedTuple, type Undo } from './people-graph.ts';
import {
  type NewViolation,
  type Sees,
  type ToldViolation,
  toldOf,
  viewOf,
  violatedAnew,
  withoutTheDead,
} from './verdict.ts';
import { violationsAmong } from './violations.ts';

/** Tuples by the row that states them. */
export type Restated = ReadonlyMap<string, readonly SourcedTuple[]>;

/** New tuples of rows, made of those that they have. */
export type RestateFrom = (tuplesOf: (source: string) => readonly Tuple[]) => Restated;

export interface Trial {
  /** Every tuple of the organization, before anything is tried. */
  note(tuple: SourcedTuple): void;
  /** The guardrails as they are by now. */
  present(): Promise<GuardrailsNow>;
  /** What the change of these rows, and of these guardrails, would be refused for, the first one first. */
  refused(rows: Restated, renamed: KnownNames, plan?: GuardrailPlan): Promise<ToldViolation[]>;
  /** The same for changes of rows that are made one after the other, and then taken back. */
  wouldRefuse(steps: readonly RestateFrom[]): Promise<ToldViolation | undefined>;
  /** The same for a fact, which is never refused. */
  happened(rows: Restated): Promise<void>;
  /** What holds less than in the beginning, also if it is only watched. Nothing, if the caller may not see guardrails. */
  outcome(renamed: KnownNames): Promise<ToldViolation[]>;
}

/** What is called otherwise than in the database by now. */
export type KnownNames = ReadonlyMap<string, string>;

export interface TrialParts {
  readonly store: Pick<GuardrailStore, 'list'>;
  readonly living: (userIds: readonly bigint[]) => Promise<readonly bigint[]>;
  readonly names: Pick<ExplainStore, 'names'>;
  readonly model: Model;
}

interface Setting {
  readonly organizationId: bigint;
  readonly callerId: bigint;
  /** What guardrails are about, or may be. */
  readonly types: readonly string[];
}

export type Trials = ReturnType<typeof createTrials>;

export function createTrials({ store, living, names, model }: TrialParts) {
  return { open, openForFile };

  /** Undefined if there are no guardrails. */
  async function open(organizationId: bigint, callerId: bigint): Promise<Trial | undefined> {
    const { rules, violations } = await stored(organizationId);
    const types = rules.map(({ objectType }) => objectType);
    return rules.length === 0 ? undefined : createTrial(rules, violations, { organizationId, callerId, types });
  }

  /** The changes may be about the guardrails themselves, and so about objects of every type. */
  async function openForFile(organizationId: bigint, callerId: bigint): Promise<Trial> {
    const { rules, violations } = await stored(organizationId);
    return createTrial(rules, violations, { organizationId, callerId, types: GUARDED_TYPES });
  }

  async function stored(organizationId: bigint) {
    const { guardrails, violations } = await store.list(organizationId);
    // In the order in which a write is inspected.
    return { rules: guardrails.toSorted((a, b) => (a.id < b.id ? -1 : 1)), violations };
  }

  function createTrial(
    storedRules: readonly Guardrail[],
    storedViolations: Violations,
    { organizationId, callerId, types: guarded }: Setting,
  ): Trial {
    let rules = storedRules;
    let atFirst = storedViolations;
    let known = storedViolations;
    let created = 0n;
    const noted: SourcedTuple[] = [];
    const types = new Set<string>([...STRUCTURE_TYPES, ...guarded]);
    const people = new PeopleGraph(model);
    let loading: Promise<{ seen: Set<string>; isReader: boolean }> | undefined;

    return {
      note(tuple) {
        const type = tuple.object.slice(0, tuple.object.indexOf(':'));
        // What no guardrail is about makes no difference. Roles are ways to the organization.
        if (types.has(type)) noted.push(tuple);
      },

      async present() {
        return { guardrails: rules, names: await names.names(namedInAll(rules)) };
      },

      async refused(rows, renamed, plan) {
        if (plan) await adopt(plan);
        const before = await restate(rows, plan !== undefined);
        const sees = viewOf(people, organizationId, callerId);
        const enforced = rules.filter(({ enforce }) => enforce);
        return await told(violatedAnew(enforced, before, known), sees, renamed);
      },

      async wouldRefuse(steps) {
        await loaded();
        const enforced = rules.filter(({ enforce }) => enforce);
        const undo: Undo[] = [];
        try {
          let before = known;
          for (const step of steps) {
            const rows = step((source) => [...people.graph.tuplesOf(source)]);
            const taken = [...rows].flatMap(([source, tuples]) => people.replaceSource(source, tuples) ?? []);
            undo.push(...taken);
            const after = await withoutTheDead(rules, await violationsAmong(people, rules), living);
            const sees = viewOf(people, organizationId, callerId);
            const [first] = await told(violatedAnew(enforced, before, after).slice(0, 1), sees, new Map());
            if (first) return first;
            before = after;
          }
          return undefined;
        } finally {
          for (const back of undo.reverse()) back();
        }
      },

      async happened(rows) {
        await restate(rows);
      },

      async outcome(renamed) {
        const { seen, isReader } = await loaded();
        const sees = (object: string) => object === `user:${callerId}` || seen.has(kindOf(object));
        return isReader ? await told(violatedAnew(rules, atFirst, known), sees, renamed) : [];
      },
    };

    /** What was known about another statement is not about this one. What is new comes last, as its ID will be. */
    async function adopt({ creates, updates, deletes }: GuardrailPlan): Promise<void> {
      const { seen } = await loaded();
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
      const sees = viewOf(people, organizationId, callerId);
      for (const object of rules.flatMap(namedIn).map(kindOf)) if (sees(object)) seen.add(object);
    }

    /** Answers with what did not hold before. */
    async function restate(rows: Restated, isRestated = false): Promise<Violations> {
      await loaded();
      const before = known;
      let isChanged = isRestated;
      for (const [source, tuples] of rows) {
        if (people.replaceSource(source, tuples)) isChanged = true;
      }
      if (isChanged) known = await withoutTheDead(rules, await violationsAmong(people, rules), living);
      return before;
    }

    function loaded() {
      loading ??= load();
      return loading;
    }

    /** And finds out what the caller may see now. */
    async function load() {
      const pace = createPace();
      for (const _ of people.loadInParts(noted, noted.length)) await pace();
      const sees = viewOf(people, organizationId, callerId);
      const objects = rules.flatMap(namedIn).map(kindOf);
      const seen = new Set(['user:', ...objects].filter(sees));
      const caller = people.classOf(`user:${callerId}`);
      const held = caller ? people.relationsOn(caller, `organization:${organizationId}`, true) : [];
      return { seen, isReader: held.includes('can_view_roles') };
    }

    async function told(list: readonly NewViolation[], sees: Sees, renamed: KnownNames): Promise<ToldViolation[]> {
      const namesOf = async (objects: readonly string[]) => new Map([...(await names.names(objects)), ...renamed]);
      const found: ToldViolation[] = [];
      for (const one of list) found.push(await toldOf(one, sees, namesOf));
      return found;
    }
  }
}

/** Whoever sees one member sees all of them. */
function kindOf(object: string): string {
  return object.startsWith('user:') ? 'user:' : object;
}
