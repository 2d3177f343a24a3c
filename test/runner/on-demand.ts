import { COUNTS } from '../counts.ts';
import type { Lane } from './lane.ts';

/** Parts of `npm run test:long` that run only if they are named. */
export const ON_DEMAND: readonly Lane[] = [
  {
    name: 'cli',
    what: 'every command line in a process of its own',
    files: [
      'test/cli/device-login.test.ts',
      'test/cli/completion.test.ts',
      'test/cli/declarations.test.ts',
      'test/cli/export.test.ts',
      'test/cli/marketplace.test.ts',
      'test/cli/output.test.ts',
      'test/cli/usage.test.ts',
      'test/cli/watch.test.ts',
    ],
    minutes: 6,
    onDemand: 'the everyday suite runs the same lines in one process',
  },
  {
    name: 'openfga',
    what: `${COUNTS.openFgaChecks} checks and ${COUNTS.openFgaExpressions} random conditions beside a real OpenFGA, built on first use`,
    files: ['test/long/openfga.test.ts'],
    minutes: 8,
    onDemand: 'building OpenFGA alone takes some minutes',
  },
  {
    name: 'openfga-engine',
    what: `the authorization suite with a real OpenFGA as the engine, ${COUNTS.openFgaPairs} revoke and ask pairs, ${COUNTS.openFgaFaults} faults`,
    files: ['test/long/openfga-engine.test.ts'],
    minutes: 6,
    onDemand: 'building OpenFGA alone takes some minutes',
  },
  {
    name: 'kubernetes',
    what: `a real kube-apiserver, etcd and kubectl, built on first use: ${COUNTS.kubernetesReviews} reviews, outages, the agent`,
    files: ['test/long/kubernetes.test.ts', 'test/long/kubernetes-agent.test.ts'],
    minutes: 6,
    onDemand: 'building Kubernetes alone takes some twenty minutes',
  },
  {
    name: 'keycloak',
    what: 'a real Keycloak, set up as docs/sign-in.md says: sign-in, groups, logout notices, new keys, robots with its tokens; fetched from Maven Central on first use',
    files: ['test/long/keycloak.test.ts'],
    minutes: 5,
    onDemand: 'fetching and starting Keycloak takes some minutes',
  },
  {
    name: 'deploy',
    what: 'deploy/ with helm, kubeconform, hadolint, systemd-analyze, promtool, nginx and Caddy, fetched on first use',
    files: ['test/long/deploy.test.ts', 'test/long/proxies.test.ts', 'test/long/image.test.ts'],
    minutes: 8,
    onDemand: 'building helm alone takes some minutes',
  },
  {
    name: 'mcp',
    what: 'the official conformance suite of the Model Context Protocol, in each revision, with a written list of exceptions',
    files: ['test/long/mcp-conformance.test.ts'],
    minutes: 1,
    onDemand: 'it installs the suite on first use',
  },
  {
    name: 'mutation',
    what: `${COUNTS.mutants} small changes of the code of vault and tokens, ${COUNTS.sampledMutants} of authorization and the engine, which tests must notice`,
    files: ['test/long/mutation.test.ts'],
    minutes: 60,
    onDemand: 'a change that no test notices costs all tests of its area',
  },
  {
    name: 'schemathesis',
    what: `at least ${COUNTS.schemathesisCases} cases of Schemathesis, with a written list of exceptions`,
    files: ['test/long/schemathesis.test.ts'],
    minutes: 10,
    onDemand: 'it takes as long as all other lanes about the API together',
  },
  {
    name: 'upgrades',
    what: `${COUNTS.upgradePairs} revoke and ask pairs on replicas of two releases, and answers before and after an upgrade`,
    files: ['test/long/upgrade.test.ts', 'test/long/upgrade-answers.test.ts'],
    minutes: 4,
    onDemand: 'it installs an earlier release from the history of the repository',
  },
  {
    name: 'site',
    what: 'the documentation site: every page builds, and every link and anchor leads somewhere',
    files: ['test/long/site.test.ts'],
    minutes: 2,
    onDemand: 'it installs what builds the site on first use',
  },
  {
    name: 'slow-clients',
    what: `${COUNTS.slowClients} clients that send or read next to nothing, while others are served`,
    files: ['test/long/slow-clients.test.ts'],
    minutes: 1,
    onDemand: 'it compares times, so it needs a machine without other work',
  },
];
