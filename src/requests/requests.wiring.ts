import type { Assignments } from '../assignments/assignments.ts';
import type { Authz } from '../authz/authz.wiring.ts';
import { createEscalationGuard } from '../authz/escalation.ts';
import type { Remedies, RemedyQuestion } from '../authz/explain/remedy.ts';
import { createTokenReach } from '../authz/token-reach.ts';
import { createMailer } from '../base/mail/mailer.ts';
import type { BackgroundWork } from '../base/scheduling/background-work.ts';
import { createRemembered } from '../changes/remembered.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createMemberStore } from '../organizations/members.store.ts';
import { settle } from '../organizations/members.ts';
import { CATALOG } from '../roles/catalog.ts';
import { createSimulationStore } from '../simulation/simulation.store.ts';
import { createApproverStore } from './approvers/approvers.store.ts';
import { createApprovers } from './approvers/approvers.ts';
import { createApproving } from './approving.ts';
import { createAsking } from './asking.ts';
import { expireRequests } from './ended-requests.store.ts';
import { createHeldUntil } from './held-until.ts';
import { createRequestMailStore } from './mails/request-mails.store.ts';
import { createRequestMails } from './mails/request-mails.ts';
import { presentRequest } from './request.view.ts';
import { createRequestEffects } from './request-effects.ts';
import { createRequestableChanges } from './requestable-change.ts';
import { requestRoutes } from './requests.routes.ts';
import { createRequestStore } from './requests.store.ts';
import { createRequests } from './requests.ts';
import { createCountingRules } from './rules/counting-rules.ts';
import { requestRuleRoutes } from './rules/request-rules.routes.ts';
import { createRequestRuleStore } from './rules/request-rules.store.ts';
import { createRequestRules } from './rules/request-rules.ts';
import { createShownRequests } from './shown-requests.ts';

/** Access requests: asking for access that ends, and deciding about it. */
export function wireRequests(
  { config, db, revisions, quotas, log, baseUrl }: Infrastructure,
  { quietJudge: judge, graphs, names, model, heldPlaces: held, givers, owners }: Authz,
  remedies: (question: RemedyQuestion) => Promise<Remedies>,
  assignments: Assignments,
  background: BackgroundWork,
) {
  revisions.addExpirer(expireRequests);
  const revision = () => revisions.latest;
  const remembered = createRemembered(revision);
  const stored = createRequestStore(db, revisions.write, quotas);
  // The console asks for the count again and again. An organization can have a thousand, so few are remembered.
  const store = { ...stored, open: createRemembered(revision, 50)(stored.open) };
  const ruleStore = createRequestRuleStore(db, revisions.write);
  const found = createApproverStore(db);
  const roles = {
    ...found,
    role: remembered(found.role),
    teamGrant: remembered(found.teamGrant),
    isOwnersTeam: remembered(found.isOwnersTeam),
    membersOf: remembered(found.membersOf),
    managerOf: remembered(found.managerOf),
  };
  const isRelation = (type: string, relation: string) =>
    relation.startsWith('can_') && (model.typeIndex.get(type)?.relationIndex.has(relation) ?? false);
  const isAnyRelation = (relation: string) => [...model.typeIndex.keys()].some((type) => isRelation(type, relation));
  const rules = createRequestRules(ruleStore, isAnyRelation);
  const rulesOf = remembered(async (organizationId: bigint) => (await ruleStore.get(organizationId)).rules);
  const escalation = createEscalationGuard(judge, held.givingOfTeam);
  const approvers = createApprovers({
    judge,
    givers,
    held: { ...held, ofTeam: remembered(held.ofTeam) },
    escalation,
    store: roles,
  });
  const subjects = { teamNames: remembered(store.teamNames), clusterSet: remembered(store.clusterSet) };
  const requestable = createRequestableChanges({
    ...{ remedies, judge, approvers, roles, rulesOf, store: subjects, catalog: CATALOG, isRelation },
  });
  const mails = createRequestMails(createRequestMailStore(db), createMailer(config, log), baseUrl, background);
  const effectsOf = createRequestEffects(graphs, model);
  const rulesFor = createCountingRules({ rulesOf, store });
  const shown = createShownRequests({
    ...{ judge, approvers, roles, effectsOf, noteEffects: store.noteEffects, names: names.names, rulesFor, revision },
  });
  const members = createMemberStore(db, revisions.write, quotas);
  const requests = createRequests({
    ...{ store, judge, approvers, rulesFor, shown, mails },
    give: {
      endAssignment: async (setting, id) => await assignments.remove(setting, id, () => undefined),
      leaveTeam: async ({ actor }, teamId, userId) =>
        settle(await members.remove(teamId, userId, () => undefined, actor), 'user is not in this team'),
    },
  });
  const reachOf = createTokenReach(owners);
  const asking = createAsking({
    ...{ store, judge, approvers, roles, requestable, shown, mails, isRelation, names: names.names },
    objectNamed: ruleStore.object,
    reaches: async (limits, organizationId, object) => (await reachOf(limits, organizationId, object)) !== 'nothing',
    heldUntil: createHeldUntil(graphs, createSimulationStore(db), model),
  });
  const present = presentRequest;
  const approving = createApproving({ store, requests, approvers, roles, held, shown, mails, present });
  return {
    asking,
    requests,
    rules,
    requestable: requestable.requestable,
    mayBeAsked: requestable.mayBeAskedAbout,
    visibleAmong: requests.visibleAmong,
    sweep: store.sweep,
    mount(scope: Scope): void {
      requestRoutes(scope, { asking, approving, requests, people: names, baseUrl });
      requestRuleRoutes(scope, rules);
    },
  };
}
