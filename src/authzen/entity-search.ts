import type { Explain } from '../authz/explain/explain.ts';
import { AppError } from '../base/errors.ts';
import type { Page } from '../base/page.ts';
import { principalOf } from '../changes/principal.ts';
import type { AskedThings, AuthzenCaller, Entity } from './asked-things.ts';
import { type AskedItem, type Evaluations, THE_CALLER } from './evaluation.ts';
import type { Place } from './page-tokens.ts';

/** An entity as search results show it. */
export interface FoundEntity {
  readonly type: string;
  readonly id: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

interface Parts {
  readonly things: AskedThings;
  readonly evaluations: Evaluations;
  readonly explainAt: (at: Date | undefined) => Pick<Explain, 'whoCan' | 'whatCan'>;
  /** Only callers who may view members can ask who may do something. */
  readonly requireMembers: (caller: AuthzenCaller) => Promise<void>;
  readonly requireReader: (caller: AuthzenCaller) => Promise<void>;
}

type Search<Left extends keyof AskedItem> = Omit<AskedItem, Left>;

const NONE: Page<FoundEntity> = { items: [], total: 0 };
const DIGITS = /^\d+$/;

export type EntitySearch = ReturnType<typeof createEntitySearch>;

/**
 * The searches of AuthZEN: who may do this, with what, and what may be done. Each result evaluates to true. What the
 * request names and does not exist for the caller has no results. A page can have fewer results than its limit.
 */
export function createEntitySearch({ things, evaluations, explainAt, requireMembers, requireReader }: Parts) {
  return { subjects, resources, actions };

  async function subjects(
    caller: AuthzenCaller,
    { action, resource, namespace, type }: Search<'subject'> & { readonly type: string },
    place: Place,
    at: Date | undefined,
  ): Promise<Page<FoundEntity>> {
    await requireMembers(caller);
    const object = await things.objectOf(caller, resource);
    const relation = evaluations.relationOf(resource.type, action);
    if ((type !== 'user' && type !== 'robot_ac') || !object || object.type === 'user' || !relation) return NONE;
    // What the token does not reach, and what the caller does not see, is a no about the caller themselves as well.
    const own = { subject: THE_CALLER, action, resource, namespace } as const;
    const [seen] = await evaluations.evaluate(caller, [own], at);
    if (seen?.fault) throw seen.fault;
    if (!seen?.isSeen) return NONE;
    const asked =
      namespace === undefined || object.type !== 'cluster' ? object : { ...object, namespace: `${namespace}` };
    const question = { organizationId: caller.organization.id, callerId: caller.id, object: asked, relation };
    const { items, total } = await explainAt(at).whoCan(question, place, [], false, type);
    const users = items.filter(({ id }) => id > 0n).map(({ id }) => id);
    const usable = at === undefined ? await things.usable(users) : new Set(users);
    const found = items.flatMap(({ id, name }): FoundEntity[] => {
      if (id > 0n && !usable.has(id)) return [];
      const number = principalOf(id).id;
      // A login of digits would be taken for an ID.
      return [{ type, id: DIGITS.test(name) ? String(number) : name, properties: { id: number } }];
    });
    return { items: found, total };
  }

  async function resources(
    caller: AuthzenCaller,
    { subject, action, namespace, type }: Search<'resource'> & { readonly type: string },
    place: Place,
    at: Date | undefined,
  ): Promise<Page<FoundEntity>> {
    const asked = subject === THE_CALLER ? undefined : await things.subjectOf(caller, subject, at !== undefined);
    if (at && asked && asked.id !== caller.id) await requireReader(caller);
    const relation = evaluations.relationOf(type, action);
    if (!asked || type === 'user' || relation === undefined) return NONE;
    const isNarrow = namespace !== undefined && type === 'cluster';
    const question = {
      ...{ organizationId: caller.organization.id, callerId: caller.id, limits: caller.limits },
      type: type as Parameters<Explain['whatCan']>[0]['type'],
      // A subject that may do something in one namespace sees the cluster.
      relation: isNarrow ? 'can_view' : relation,
    };
    const name = asked.id === caller.id ? undefined : asked.name;
    const { items, total } = await explainAt(at).whatCan(question, name, place);
    const found = items.map((one): FoundEntity => ({ type, id: String(one.id), properties: { name: one.name } }));
    return { items: isNarrow ? await allowedAmong(found) : found, total };

    async function allowedAmong(entities: readonly FoundEntity[]): Promise<FoundEntity[]> {
      const item = (resource: Entity) => ({ subject, action, resource, namespace });
      const verdicts = await evaluations.evaluate(caller, entities.map(item), at);
      const [fault] = verdicts.flatMap((verdict) => verdict.fault ?? []);
      if (fault) throw fault;
      return entities.filter((_, at) => verdicts[at]?.decision);
    }
  }

  async function actions(
    caller: AuthzenCaller,
    search: Search<'action'>,
    { offset, limit }: Place,
    at: Date | undefined,
  ): Promise<Page<string>> {
    const all = await evaluations.allowedActions(caller, search, at).catch((error: unknown) => {
      if (error instanceof AppError && error.kind === 'conflict') return [];
      throw error;
    });
    return { items: all.slice(offset, offset + limit), total: all.length };
  }
}
