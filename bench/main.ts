import { registerHooks } from 'node:module';

/** `npm run bench -- NAME`: measures one part, next to something it can be compared with, in one run. */
const BENCHES: Readonly<Record<string, string>> = {
  'user-request': 'GET /api/v1/user, next to a bare Fastify route; about two minutes',
  workers: 'two workers and three replicas, next to one process; about a minute',
  'role-writes': 'roles changed with one, two and four replicas, next to a bare row; about two minutes',
  pooler: 'requests and role writes through PgBouncer, next to PostgreSQL itself; about a minute',
  authz: 'allowed permissions among a million tuples, while another process writes 20 roles a second',
  authzen: 'decisions by AuthZEN, next to allowed permissions of the same object; about two minutes',
  assignments: '100,000 assignments in one organization, a member with 1,000 of them lists clusters; about two minutes',
  cold: 'the first answers of new processes about organizations of 10,000 tuples; about two minutes',
  matrix: 'who may do what: 200 people and 500 clusters, and one person; about two minutes',
  engine: 'the authorization engine alone, next to its peers',
  openfga: 'decisions of the engine in the process, next to those of a real OpenFGA server; about two minutes',
  'user-lists': 'lists of followers and clusters; about three minutes',
  credentials: 'sealed credentials, next to the same in clear text',
  marketplace: 'the listener, next to the least that a listener could do',
  bus: 'issuing credentials for the message bus',
  audit: 'an audit log of a million entries',
  'audit-growth': 'what an entry costs in a log of ten million, next to one million; about twenty minutes',
  erasure: 'a person is erased from 100,000 entries of earlier releases; about a minute',
  history: 'questions about a moment a thousand changes ago; about a minute',
  events: '1,000 idle listeners of GET /events, next to none; about five minutes',
  webhooks: '500 events a second for 50 webhooks, one dead and one slow; about two minutes',
  'sign-ins': 'token requests, while 20 people a second sign in with a provider; about three minutes',
  'role-file': 'files of a thousand roles',
  'organization-file': 'the file of an organization with 2,000 entries, planned and applied; about a minute',
  guardrails: 'role writes with 50 guardrails, next to none; a thousand assertions of a policy',
  kubernetes: 'access reviews next to allowed permissions, and a thousand a second beside GET /user; about two minutes',
  preview: 'previews of changes in an organization of 10,000 tuples; about half a minute',
  asking: 'access requests in an organization of 10,000 tuples, and an inbox of 1,000; about a minute',
  requests: 'how long the most expensive request of every route keeps all others waiting; about five minutes',
  backup: 'taking and restoring a backup',
  console: 'the web console in Chromium: bytes, requests, calls, 10,000 clusters; about a minute',
  cli: 'starting the command line, next to a bare Node',
};

// What benches share with the tests imports the test runner, which would make what is measured slower.
const noTestRunner = new URL('./support/no-test-runner.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'node:test' ? { url: noTestRunner, shortCircuit: true } : next(specifier, context),
});
const [name = ''] = process.argv.splice(2, 1);
if (Object.hasOwn(BENCHES, name)) {
  await import(`./${name}.ts`);
} else {
  const width = Math.max(...Object.keys(BENCHES).map((one) => one.length));
  const lines = Object.entries(BENCHES).map(([one, what]) => `  ${one.padEnd(width)}  ${what}`);
  process.stderr.write(`npm run bench -- NAME, one of:\n${lines.join('\n')}\n`);
  process.exitCode = 2;
}
