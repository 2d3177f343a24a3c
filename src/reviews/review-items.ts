import { check, explainAll, type Graph, possibleUsers } from '../../packages/rebac/src/rebac.ts';
import type { Graphs } from '../authz/graphs.ts';
import { inOneMoment } from '../authz/one-moment.ts';
import { assignmentsIn, everywhere, IN_NAMESPACES } from '../authz/places/namespaces.ts';
import { AppError } from '../base/errors.ts';
import { isSingle } from '../changes/principal.ts';
import { keyOf } from '../unused/credits.ts';
import type { Grant, Unused, UnusedGrant } from '../unused/unused.ts';
import type { AccessQuestion, EndableGrant, ItemDraft, ItemSource, Named, OldToken, ReviewQuestion } from './review.ts';

export interface FoundItems {
  readonly items: readonly ItemDraft[];
  readonly leftOut: number;
}

export type FindItems = ReturnType<typeof createReviewItems>;

export const MAX_ITEMS = 1000;
const MAX_WAYS = 30;
const DAY_MS = 86_400_000;

/** Everything that a review of a question decides about, as of one moment. */
export function createReviewItems(
  store: ItemSource,
  graphs: Pick<Graphs, 'together'>,
  unused: Pick<Unused, 'grants' | 'report'>,
) {
  return async (organizationId: bigint, question: ReviewQuestion, now: Date): Promise<FoundItems> => {
    const found = await itemsOf(organizationId, question, now);
    if (found.items.length <= MAX_ITEMS) return found;
    const message = `a review has at most ${MAX_ITEMS} items: ask a narrower question`;
    throw new AppError('malformed', message, { reason: 'too_many_items', errors: [{ field: 'question', message }] });
  };

  async function itemsOf(organizationId: bigint, question: ReviewQuestion, now: Date): Promise<FoundItems> {
    if (question.kind === 'access') return await accessItems(organizationId, question);
    return { items: await plainItems(organizationId, question, now), leftOut: 0 };
  }

  async function plainItems(
    organizationId: bigint,
    question: Exclude<ReviewQuestion, { readonly kind: 'access' }>,
    now: Date,
  ): Promise<ItemDraft[]> {
    if (question.kind === 'robot_tokens') {
      const before = new Date(now.getTime() - question.days * DAY_MS);
      return (await store.tokensBefore(organizationId, before)).map(ofToken);
    }
    if (question.kind === 'unused') {
      const report = await unused.report(organizationId, question.days, now);
      if (!report.isComplete) throw notTracked(report.trackedSince);
      return report.grants
        .filter(isEndable)
        .map((grant) => ofGrant(grant, `${reasonOf(grant, [])}, ${lastUse(grant)}`));
    }
    const grants = (await unused.grants(organizationId)).filter(isEndable);
    const isMember = (grant: EndableGrant) => grant.kind === 'membership' && grant.team.id === question.team.id;
    const isOfTeam = ({ to }: EndableGrant) => to.type === 'team' && to.id === question.team.id;
    return grants.filter((one) => isMember(one) || isOfTeam(one)).map((one) => ofGrant(one, reasonOf(one, [])));
  }

  /** An item for everything that gives it directly to a user or robot. Who has it in two ways has two items. */
  async function accessItems(
    organizationId: bigint,
    { relation, object, namespace }: AccessQuestion,
  ): Promise<FoundItems> {
    const holders = await inOneMoment(graphs, organizationId, organizationId, (graph) =>
      holdersIn(graph, partsOf(graph, relation, `${object.type}:${object.id}`, namespace)),
    );
    const known = new Map((await unused.grants(organizationId)).filter(isEndable).map((one) => [one.key, one]));
    const items: ItemDraft[] = [];
    let leftOut = 0;
    for (const { user, ways } of holders) {
      const direct = new Map<string, EndableGrant[]>();
      for (const way of ways) {
        const own = way.find((key) => key.endsWith(` ${user}`));
        if (own === undefined) continue;
        const further = way.flatMap((key) => (key === own ? [] : (known.get(key) ?? [])));
        direct.set(own, [...(direct.get(own) ?? []), ...further]);
      }
      const grants = [...direct].flatMap(([key, further]) => {
        const grant = known.get(key);
        return grant ? [ofGrant(grant, reasonOf(grant, further))] : [];
      });
      if (grants.length === 0) leftOut += 1;
      items.push(...grants);
    }
    return { items, leftOut };
  }
}

interface Part {
  readonly relation: string;
  readonly object: string;
}

/** In a namespace, what counts on the whole cluster, and the assignments that have this namespace. */
function partsOf(graph: Graph, relation: string, object: string, namespace: string | undefined): readonly Part[] {
  const given = namespace === undefined ? undefined : IN_NAMESPACES.get(relation)?.given;
  if (namespace === undefined || given === undefined) return [{ relation, object }];
  const some = assignmentsIn(graph, object, namespace).map((assignment) => ({ relation: given, object: assignment }));
  return [{ relation: everywhere(relation), object }, ...some];
}

function* holdersIn(graph: Graph, parts: readonly Part[]) {
  const holders: { readonly user: string; readonly ways: readonly (readonly string[])[] }[] = [];
  for (const filter of ['user', 'robot_ac']) {
    for (const user of new Set(parts.flatMap((part) => possibleUsers(graph, { ...part, filter })))) {
      yield;
      const held = isSingle(user) ? parts.filter((part) => check(graph, { user, ...part })) : [];
      if (held.length === 0) continue;
      const keys = held
        .flatMap((part) => explainAll(graph, { user, ...part }, MAX_WAYS).ways)
        .map((way) => way.flatMap(({ tuple }) => (tuple && keyOf(tuple)) ?? []));
      holders.push({ user, ways: keys });
      // One more is enough to know that there are too many.
      if (holders.length > MAX_ITEMS * 2) return holders;
    }
  }
  return holders;
}

function isEndable<One extends Grant>(grant: One): grant is One & EndableGrant {
  return grant.kind !== 'permission';
}

function ofGrant(grant: EndableGrant, sentence: string): ItemDraft {
  const { kind, to, id } = grant;
  const details =
    kind === 'membership'
      ? { team: text(grant.team) }
      : {
          role: text(grant.role),
          on: { type: grant.on.type, ...text({ id: grant.on.id ?? 0n, name: grant.on.name }) },
        };
  return { kind, principal: to, targetId: id, details, sentence };
}

function ofToken({ id, name, robot, createdAt, lastUsedAt }: OldToken): ItemDraft {
  const use = lastUsedAt ? `last used on ${dateOf(lastUsedAt)}` : 'never used';
  return {
    kind: 'token',
    principal: { type: 'robot_ac', ...robot },
    targetId: id,
    details: { token: text({ id, name }) },
    sentence: `the robot ${robot.name} has the token ${name}, created on ${dateOf(createdAt)}, ${use}`,
  };
}

/** "ann is in the team crew, which has the role operator on prod" */
function reasonOf(grant: EndableGrant, further: readonly EndableGrant[]): string {
  const { to } = grant;
  const who = to.type === 'user' ? to.name : `the ${to.type === 'team' ? 'team' : 'robot'} ${to.name}`;
  if (grant.kind === 'assignment') return `${who} has ${roleOf(grant)}`;
  const roles = [...new Set(further.flatMap((one) => (one.kind === 'assignment' ? [roleOf(one)] : [])))];
  return `${who} is in the team ${grant.team.name}${roles.length > 0 ? `, which has ${roles.join(' and ')}` : ''}`;
}

function roleOf({ role, on }: Extract<EndableGrant, { readonly kind: 'assignment' }>): string {
  const where = on.namespaces ? ` in ${on.namespaces.join(', ')}` : '';
  return on.type === 'organization' ? `the role ${role.name}` : `the role ${role.name} on ${on.name}${where}`;
}

function lastUse({ lastUsedOn }: UnusedGrant): string {
  return lastUsedOn === undefined ? 'never used as far as is known' : `last used on ${lastUsedOn}`;
}

function dateOf(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

function text({ id, name }: Named) {
  return { id: String(id), name };
}

function notTracked(since: Date): AppError {
  const message = `uses are known only since ${since.toISOString()}: ask about fewer days`;
  return new AppError('malformed', message, {
    reason: 'not_tracked_yet',
    errors: [{ field: 'question.days', message }],
  });
}
