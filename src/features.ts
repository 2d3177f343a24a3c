import { wireAccessMap } from './access-map/access-map.wiring.ts';
import { wireAssignments } from './assignments/assignments.wiring.ts';
import { wireAudit } from './audit/audit.wiring.ts';
import { wireAuthz } from './authz/authz.wiring.ts';
import { wireAuthzen } from './authzen/authzen.wiring.ts';
import { wireBuckets } from './buckets/buckets.wiring.ts';
import { wireBus } from './bus/bus.wiring.ts';
import { wireClusters } from './clusters/clusters.wiring.ts';
import { wireContracts } from './contracts/contracts.wiring.ts';
import { wireCredentials } from './credentials/credentials.wiring.ts';
import { wireDevices } from './devices/devices.wiring.ts';
import { wireEvents } from './events/events.wiring.ts';
import { wireFactors } from './factors/factors.wiring.ts';
import { wireFederation } from './federation/federation.wiring.ts';
import { wireForward } from './forward/forward.wiring.ts';
import { wireGuardrails } from './guardrails/guardrails.wiring.ts';
import type { Brake } from './http/limits/brake.ts';
import type { Scope } from './http/server.ts';
import type { Identity } from './identity/identity.wiring.ts';
import { wireImpact } from './impact/impact.wiring.ts';
import type { Infrastructure } from './infrastructure.ts';
import { wireInvitations } from './invitations/invitations.wiring.ts';
import { wireKubernetes } from './kubernetes/kubernetes.wiring.ts';
import { wireMarketplace } from './marketplace/marketplace.wiring.ts';
import { wireMcp } from './mcp/mcp.wiring.ts';
import { wireOrders } from './orders/orders.wiring.ts';
import { wireOrganizationFile } from './organization-file/organization-file.wiring.ts';
import { wireOrganizations } from './organizations/organizations.wiring.ts';
import { wireOverview } from './overview/overview.wiring.ts';
import { wireProviders } from './providers/providers.wiring.ts';
import { wireRemedies } from './remedies/remedies.wiring.ts';
import { wireRequests } from './requests/requests.wiring.ts';
import { wireReviews } from './reviews/reviews.wiring.ts';
import { wireRobots } from './robots/robots.wiring.ts';
import { CATALOG, findPermission } from './roles/catalog.ts';
import { wireRoles } from './roles/roles.wiring.ts';
import { wireScim } from './scim/scim.wiring.ts';
import { wireSearch } from './search/search.wiring.ts';
import { wireTokens } from './tokens/tokens.wiring.ts';
import { wireUnused } from './unused/unused.wiring.ts';
import { wireUsers } from './users/users.wiring.ts';
import { wireWebhooks } from './webhooks/webhooks.wiring.ts';

export type Features = Awaited<ReturnType<typeof wireFeatures>>['features'];

/** Wires every folder that has routes. If one needs an answer from another, it gets it here. */
export async function wireFeatures(infrastructure: Infrastructure, identity: Identity, brake: Brake) {
  const authz = await wireAuthz(infrastructure, CATALOG, (pair) => findPermission(pair)?.relation);
  const guardrails = wireGuardrails(infrastructure, authz);
  const remedies = wireRemedies(infrastructure, authz, CATALOG, guardrails.guardrailChecks);
  const roles = wireRoles(infrastructure, authz, guardrails);
  const assignments = wireAssignments(infrastructure, authz);
  const users = wireUsers(infrastructure, identity, brake);
  const requests = wireRequests(infrastructure, authz, remedies, assignments.assignments, users.background);
  authz.relations.tellRequestable(requests.mayBeAsked);
  const organizations = wireOrganizations(infrastructure, identity, authz, users.users);
  const invitations = wireInvitations(infrastructure, authz, users);
  const admitsInvited = invitations.acceptance.admitsAccount;
  const providers = wireProviders(infrastructure, identity, { ...users, admitsInvited });
  const { isOpen: isProviderOpen } = providers.providers;
  const factors = wireFactors(infrastructure, identity, { ...users, isProviderOpen }, brake);
  const tokens = wireTokens(infrastructure, identity, authz);
  const devices = wireDevices(infrastructure, identity, tokens);
  const clusters = wireClusters(infrastructure, identity, authz);
  const kubernetes = wireKubernetes(
    infrastructure,
    identity,
    authz,
    clusters.clusters,
    async ({ personId, organizationId, clusterId, relation, namespace }) => {
      const object = { type: 'cluster', id: clusterId } as const;
      const holds = (wanted: string) => authz.quietJudge.holds(personId, organizationId, wanted, object);
      // What a user cannot see does not exist for them, and what they hold cannot be asked for.
      if (!(await holds('can_view')) || (namespace === undefined && (await holds(relation)))) return false;
      return await requests.mayBeAsked({ organizationId, callerId: personId, relation, object });
    },
  );
  const contracts = wireContracts(infrastructure, authz);
  const robots = wireRobots(infrastructure, identity, authz, tokens);
  const federation = wireFederation(infrastructure, identity, authz, tokens, brake);
  const credentials = wireCredentials(infrastructure);
  const buckets = wireBuckets(infrastructure, credentials.credentials);
  const orders = wireOrders(infrastructure);
  const bus = wireBus(infrastructure, identity, authz.visibleClusters);
  const audit = wireAudit(infrastructure, authz.judge, buckets.open, users.erasure.finish);
  const nouns = { organizations: organizations.organizations, users: users.users };
  const unused = wireUnused(infrastructure, authz);
  const overview = wireOverview(infrastructure, identity, authz.quietJudge, { ...nouns, unused: unused.unused });
  const impact = wireImpact(infrastructure, identity, authz, guardrails);
  const reviews = wireReviews(infrastructure, identity, authz, { unused: unused.unused, impact: impact.impact });
  const webhooks = wireWebhooks(infrastructure, authz.quietJudge, requests.visibleAmong, audit.segmentKey);
  const organizationFile = wireOrganizationFile(infrastructure, authz, {
    guardrails: guardrails.guardrails,
    requestRules: requests.rules,
    impact: impact.impact,
    webhooks: webhooks.webhooks,
    trustRules: federation.trustRules,
  });
  const marketplace = wireMarketplace(infrastructure);
  const events = wireEvents(infrastructure, identity, authz.quietJudge, requests.visibleAmong);
  const search = wireSearch(infrastructure, identity, authz.quietJudge);
  const scim = wireScim(infrastructure);
  const accessMap = wireAccessMap(infrastructure, authz);
  const authzen = wireAuthzen(infrastructure, authz, requests);
  const forward = wireForward(authzen.evaluations);
  const mcp = wireMcp(infrastructure, identity, authzen.things, requests.asking);
  const wired = [
    {
      mount: (scope: Scope) =>
        authz.mount(scope, { remedies, forbidding: guardrails.forbidding, requestable: requests.requestable }),
    },
    roles,
    assignments,
    accessMap,
    requests,
    forward,
    users,
    factors,
    tokens,
    credentials,
    buckets,
    bus,
    orders,
    organizations,
    invitations,
    clusters,
    kubernetes,
    contracts,
  ];
  return {
    /** The rules by noun, for commands and the demo. */
    features: {
      users: users.users,
      addUpCounts: users.addUp,
      background: users.background,
      emails: users.emails,
      follows: users.follows,
      factors: factors.factors,
      organizations: organizations.organizations,
      teams: organizations.teams,
      members: organizations.members,
      invitations: invitations.invitations,
      roles: roles.roles,
      assignments: assignments.assignments,
      clusters: clusters.clusters,
      heartbeats: clusters.heartbeats,
      contracts: contracts.contracts,
      providers: providers.providers,
      robots: robots.robots,
      robotTokens: robots.robotTokens,
      trustRules: federation.trustRules,
      sweepIssuedTokens: federation.sweep,
      finishErasures: users.erasure.finish,
      sweepRequests: requests.sweep,
      tokenNotices: tokens.notices,
      credentials: credentials.credentials,
      bus,
      marketplace,
      openFga: authz.openFga,
      events: events.events,
      reviews: reviews.reviews,
      webhooks,
      auditArchive: audit.archive,
      retainAudit: audit.retain,
      pushAudit: audit.push,
      flushAccessUses: authz.uses.flush,
    },
    /** Before the process is ready for requests. */
    warmUp: authz.warmUp,
    denials: audit.denials,
    verification: audit.verification,
    noteRejection: audit.noteRejection,
    relations: authz.relations,
    /** Which routes are where. */
    mounts: {
      platform: [
        ...[
          ...wired,
          providers,
          devices,
          robots,
          federation,
          audit,
          overview,
          impact,
          organizationFile,
          guardrails,
          events,
          search,
          unused,
          reviews,
          webhooks,
        ].map(({ mount }) => mount),
        marketplace.mountPlatform,
      ],
      root: [
        users.mountRoot,
        (scope: Scope) => tokens.mountRoot(scope, kubernetes.tokens.keySet),
        kubernetes.mountRoot,
        federation.mountRoot,
        authzen.mountRoot,
        webhooks.mountRoot,
        mcp.mountRoot,
        marketplace.mountRoot,
      ],
      mcp: [mcp.mount],
      authzen: [authzen.mount],
      authzenRequests: [authzen.mountRequests],
      oauth: [federation.mountOAuth],
      listener: [marketplace.mount],
      scim: [scim.mount],
    },
  };
}
