/**
 * The guardrails of an organization while changes are tried out: what the guard of writes would say to each of them.
 * It works as that one does, on a graph of its own, but nothing is written.
 */
import type { ExplainStore } from '../authz/explain/explain.ts';
import { createPace } from '../base/slices.ts';
import type { Model } from '../rebac/model.ts';
import { type Guardrail, namedIn, type Violations } from './guardrail.ts';
import type { GuardrailStore } from './guardrails.ts';
import { PeopleGraph, type SourcedTuple } from './people-graph.ts';
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

export interface Trial {
  /** Every tuple of the organization, before anything is tried. */
  note(tuple: SourcedTuple): void;
  /** What the change of these rows would be refused for, the first one first. */
  refused(rows: Restated, renamed: KnownNames): Promise<ToldViolation[]>;
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

export type Trials = ReturnType<typeof createTrials>;

export function createTrials({ store, living, names, model }: TrialParts) {
  /** Undefined if there are no guardrails. */
  return async function open(organizationId: bigint, callerId: bigint): Promise<Trial | undefined> {
    const { guardrails, violations } = await store.list(organizationId);
    if (guardrails.length === 0) return undefined;
    // In the order in which a write is inspected.
    const rules = guardrails.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return createTrial(rules, violations, organizationId, callerId);
  };

  function createTrial(
    rules: readonly Guardrail[],
    atFirst: Violations,
    organizationId: bigint,
    callerId: bigint,
  ): Trial {
    const enforced = rules.filter(({ enforce }) => enforce);
    const noted: SourcedTuple[] = [];
    const types = new Set<string>(['platform', 'organization', 'team', ...rules.map(({ objectType }) => objectType)]);
    const people = new PeopleGraph(model);
    let known = atFirst;
    let loading: Promise<{ seen: ReadonlySet<string>; isReader: boolean }> | undefined;

    return {
      note(tuple) {
        const type = tuple.object.slice(0, tuple.object.indexOf(':'));
        // What no guardrail is about makes no difference. Roles are ways to the organization.
        if (types.has(type) || type === 'role') noted.push(tuple);
      },

      async refused(rows, renamed) {
        const before = await restate(rows);
        const sees = viewOf(people, organizationId, callerId);
        return await told(violatedAnew(enforced, before, known), sees, renamed);
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

    /** Answers with what did not hold before. */
    async function restate(rows: Restated): Promise<Violations> {
      await loaded();
      const before = known;
      let isChanged = false;
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
