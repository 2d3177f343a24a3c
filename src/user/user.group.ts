import { openBus } from '../bus/bus.group.ts';
import type { Directory } from '../directory/directory.group.ts';
import { createDomainRule } from '../directory/domains.ts';
import type { Ground } from '../ground.ts';
import type { Brake } from '../http/brake.ts';
import { createCookies } from '../http/cookies.ts';
import type { Scope } from '../http/server.ts';
import { createMailer } from '../mail.ts';
import { createSignedTexts } from '../signed-text.ts';
import { accountRoutes } from './account.routes.ts';
import { avatarRoutes } from './avatars.routes.ts';
import { createBucketLister } from './buckets.lister.ts';
import { bucketRoutes } from './buckets.routes.ts';
import { createBuckets, noClusters } from './buckets.ts';
import { busRoutes } from './bus.routes.ts';
import { createBusStore } from './bus.store.ts';
import { type VisibleClusters as ClustersOf, createBus } from './bus.ts';
import { createHolderStore } from './bus-watch.store.ts';
import { createBusWatch } from './bus-watch.ts';
import { clusterRoutes } from './clusters.routes.ts';
import { createClusterStore } from './clusters.store.ts';
import { createClusters, type VisibleClusters } from './clusters.ts';
import { createConfirmationLinks } from './confirmation-links.ts';
import { credentialRoutes } from './credentials.routes.ts';
import { createCredentialStore } from './credentials.store.ts';
import { createCredentials } from './credentials.ts';
import { emailRoutes } from './emails.routes.ts';
import { createEmailStore } from './emails.store.ts';
import { createEmails } from './emails.ts';
import { followRoutes } from './follows.routes.ts';
import { createFollowStore } from './follows.store.ts';
import { createFollows } from './follows.ts';
import { hostedTokenRoutes, keySetRoutes } from './hosted-token.routes.ts';
import { createHostedTokens } from './hosted-token.ts';
import { membershipRoutes } from './memberships.routes.ts';
import { createMembershipStore } from './memberships.store.ts';
import { nameRoutes } from './names.routes.ts';
import { createNameStore } from './names.store.ts';
import { createNames } from './names.ts';
import { orderRoutes } from './orders.routes.ts';
import { createOrderStore } from './orders.store.ts';
import { createOrders } from './orders.ts';
import { signInRoutes } from './sign-in.routes.ts';
import { createSignIn } from './sign-in.ts';
import { tokenRoutes } from './tokens.routes.ts';
import { createAccessTokenStore } from './tokens.store.ts';
import { createAccessTokens } from './tokens.ts';

/** Group 2, put together: the signed-in user's own world. */
export function createUserGroup(
  ground: Ground,
  directory: Directory,
  brake: Brake,
  visible: VisibleClusters & ClustersOf,
) {
  const { config, keys, vault, db, clock, log, baseUrl } = ground;
  const isDomainAllowed = createDomainRule(config.EMAIL_ALLOWED_DOMAINS, config.EMAIL_BLOCKED_DOMAINS);
  const links = createConfirmationLinks(createSignedTexts(keys.derive('email confirmation')), baseUrl);
  const policy = { confirm: config.EMAIL_CONFIRMATION, isDomainAllowed };
  const emails = createEmails(createEmailStore(db, clock.write), policy, links, createMailer(config, log));
  const follows = createFollows(createFollowStore(db));
  const credentials = createCredentials(createCredentialStore(db, clock.write), vault);
  const hostedTokens = createHostedTokens(keys.derive('hosted token'), baseUrl);
  const isHosted = config.DEPLOYMENT === 'hosted';

  const bus = openBus({ db, safe: vault, log, config });
  const busWatch = createBusWatch({
    clock,
    store: createHolderStore(db),
    visible,
    onError: (error) => log.warn({ err: error }, 'bus credentials could not be looked through'),
  });

  return {
    emails,
    follows,
    credentials,
    bus,
    mount,
    mountRoot,
    start,
    close,
  };

  /** What goes on beside the requests. */
  function start(): void {
    bus.start();
    busWatch.start();
  }

  async function close(): Promise<void> {
    await busWatch.close();
    await bus.close();
  }

  function mount(scope: Scope): void {
    const { callers, people, sessions, tokens, usage } = directory;
    const cookies = createCookies(() => baseUrl().startsWith('https:'));
    accountRoutes(scope, baseUrl);
    signInRoutes(scope, { signIn: createSignIn(callers, people, sessions), brake, cookies, baseUrl });
    tokenRoutes(scope, createAccessTokens(createAccessTokenStore(db), tokens, usage.flush), baseUrl);
    emailRoutes(scope, emails);
    followRoutes(scope, follows, baseUrl);
    membershipRoutes(scope, createMembershipStore(db), baseUrl);
    clusterRoutes(scope, createClusters(createClusterStore(db), visible));
    credentialRoutes(scope, credentials);
    bucketRoutes(scope, createBuckets(credentials, noClusters, createBucketLister(config.BUCKET_ALLOWED_NETWORKS)));
    const busStore = createBusStore(db, clock.write);
    const { personNamed } = callers;
    const issuing = createBus({ issuer: bus.issuer, store: busStore, visible, personNamed });
    busRoutes(scope, { bus: issuing, history: bus.history, busEndpoints: bus.endpoints });
    nameRoutes(scope, createNames(createNameStore(db), isDomainAllowed));
    orderRoutes(scope, createOrders(createOrderStore(db)));
    if (isHosted) hostedTokenRoutes(scope, hostedTokens);
  }

  /** What stands outside /api/v1. */
  function mountRoot(scope: Scope): void {
    avatarRoutes(scope);
    if (isHosted) keySetRoutes(scope, hostedTokens);
  }
}
