import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../../src/base/config/settings.ts';
import { expressionsOf, type Rules, seriesIn } from '../support/checks/promql.ts';
import { openTestServer, type TestServer } from '../support/server/server.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const FILES = [
  'Dockerfile',
  'compose.yaml',
  'docs/deploying.md',
  ...globSync('deploy/**/*', { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.parentPath}/${entry.name}`.replace(`${process.cwd()}/`, '')),
];
/** Names of other programs, and of compose.yaml itself. */
const FOREIGN = new Set([
  'DROP_HEADER',
  'APP_ADDRESS',
  ...['NODE_ENV', 'XDG_CACHE_HOME', 'POSTGRES_PASSWORD', 'POSTGRES_USER', 'POSTGRES_DB', 'SITE_ADDRESS'],
  ...['HTTP_PORT', 'HTTPS_PORT', 'BUS_HOST', 'BUS_PORT', 'AF_INET', 'AF_INET6', 'AF_UNIX', 'MALLOC_ARENA_MAX'],
]);
/** Settings of the command line. */
const COMMAND_LINE = new Set(['ATRIUM_URL', 'ATRIUM_TOKEN', 'ATRIUM_ORG']);
/** What GitHub sets for a job, and the inputs of the action. */
const OF_JOBS = /^(?:GITHUB|ACTIONS|ATRIUM_INPUT)_/;
/** Variables of the example's own repository, and of the command line. */
const OF_PIPELINES = /^(?:ATRIUM_URL|ATRIUM_PLAN_ROBOT|ATRIUM_APPLY_ROBOT|NO_COLOR)$/;
/** What the server needs after SHUTDOWN_DELAY_MS, as docs/operating.md says. */
const END_SECONDS = 12;

interface Service {
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks: readonly string[] | Readonly<Record<string, { ipv4_address?: string } | null>>;
  readonly depends_on?: Readonly<Record<string, object>>;
  readonly [key: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { ipam?: { config: { subnet: string; gateway: string }[] } } | null>>;
  readonly volumes: object;
}

describe('Files for deployments', () => {
  const delaySeconds = Number(SETTINGS.SHUTDOWN_DELAY_MS.fallback) / 1000;

  for (const path of FILES) {
    it(`Every setting that ${path} names exists`, () => {
      const named = read(path).match(/\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b/g) ?? [];
      const unknown = named
        .map((name) => name.replace(/_FILE$/, ''))
        .filter((name) => !(name in SETTINGS) && !FOREIGN.has(name))
        .filter((name) => !path.startsWith('deploy/github-action/') || !(COMMAND_LINE.has(name) || OF_JOBS.test(name)))
        .filter((name) => !path.startsWith('deploy/organization-file/') || !OF_PIPELINES.test(name));
      assert.deepEqual([...new Set(unknown)], []);
    });
  }

  it('Every file is YAML, JSON or a format that the tools of test:long deploy read', () => {
    const kinds = FILES.map((path) => /[^/.]*\.?[^/.]*$/.exec(path)?.[0] ?? '');
    assert.ok(FILES.length > 20, kinds.join(' '));
    for (const path of FILES) {
      if (path.endsWith('.json')) JSON.parse(read(path));
      else if (/\.ya?ml$/.test(path) && !path.includes('/templates/')) {
        for (const document of parseAllDocuments(read(path), { merge: true })) assert.deepEqual(document.errors, []);
      }
    }
  });

  it('The image runs as a user that is not root, on the minor version of Node that is tested', () => {
    const { version, devDependencies } = JSON.parse(read('package.json')) as {
      version: string;
      devDependencies: { node: string };
    };
    const text = read('Dockerfile');
    const bases = [...text.matchAll(/^FROM node:(\S+)/gm)].map(([, tag]) => tag);
    assert.deepEqual(bases, Array(2).fill(`${devDependencies.node.replace(/\.\d+$/, '')}-slim`));
    assert.match(text, /^USER [1-9]\d*:[1-9]\d*$/m);
    assert.ok(text.lastIndexOf('\nUSER ') > text.lastIndexOf('\nRUN '), 'nothing is done as root after that');
    assert.ok(text.includes(`org.opencontainers.image.version="${version}"`));
    assert.match(text, /^HEALTHCHECK /m);
    for (const name of ['atrium', 'atrium-agent']) {
      const chart = parse(read(`deploy/helm/${name}/Chart.yaml`)) as Record<string, string>;
      assert.deepEqual([chart.version, chart.appVersion], [version, version]);
    }
  });

  it('Everything that the Dockerfile copies is sent to the builder', () => {
    const sent = [...(read('.dockerignore').match(/(?<=^!).*$/gm) ?? [])];
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
      names.split(' '),
    );
    assert.ok(copied.length > 10);
    assert.deepEqual(
      copied.filter((name) => !sent.some((one) => name === one || name.startsWith(`${one}/`))),
      [],
    );
  });

  it('compose.yaml has two servers, which trust the address of the proxy and nothing else', () => {
    const { services, networks, volumes } = parse(read('compose.yaml'), { merge: true }) as Compose;
    const networksOf = ({ networks: its }: Service) => (Array.isArray(its) ? (its as string[]) : Object.keys(its));
    const servers = Object.entries(services).filter(([name]) => /^atrium-\d$/.test(name));
    assert.equal(servers.length, 2);
    const front = services.proxy?.networks as Record<string, { ipv4_address: string }>;
    const address = front.front?.ipv4_address ?? '';
    const [range] = networks.front?.ipam?.config ?? [];
    assert.ok(address.startsWith(range?.subnet.replace(/\.0\/24$/, '.') ?? '?') && address !== range?.gateway);
    for (const [, one] of servers) {
      assert.equal(one.environment?.TRUSTED_PROXIES, address);
      assert.deepEqual([one.read_only, one.cap_drop, one.ports], [true, ['ALL'], undefined]);
      assert.ok(Number.parseInt(String(one.stop_grace_period), 10) > delaySeconds + END_SECONDS);
    }
    const upstreams = services.proxy?.environment?.UPSTREAMS?.split(' ');
    assert.deepEqual(
      upstreams,
      servers.map(([name]) => `${name}:3000`),
    );
    for (const [name, one] of Object.entries(services)) {
      for (const other of Object.keys(one.depends_on ?? {})) assert.ok(other in services, `${name} waits for ${other}`);
      for (const other of networksOf(one)) assert.ok(other in networks, `${name} is in ${other}`);
      for (const mount of (one.volumes ?? []) as string[]) {
        const [source = ''] = mount.split(':');
        assert.ok(source in volumes || FILES.includes(source.replace('./', '')), mount);
      }
    }
    assert.deepEqual(networksOf(services.postgres as Service), ['back'], 'the proxy cannot reach the database');
  });

  it('The service of systemd waits until a server that drains has ended', () => {
    const unit = read('deploy/systemd/atrium.service');
    assert.ok(Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1]) > delaySeconds + END_SECONDS);
    const credentials = [...unit.matchAll(/^LoadCredential=(\w+):/gm)].map(([, name]) => name);
    for (const name of credentials) assert.ok(unit.includes(`${name}_FILE=%d/${name}`), name);
    assert.doesNotMatch(unit, /^Environment=.*\b(?:ATRIUM_KEY|DATABASE_URL)=/m, 'secrets are credentials');
    const undo = read('deploy/systemd/built-in-database.conf');
    for (const name of credentials) assert.match(undo, new RegExp(`^UnsetEnvironment=.*\\b${name}_FILE\\b`, 'm'));
  });

  it('The chart gives the migrations of a start an hour', () => {
    const template = read('deploy/helm/atrium/templates/deployment.yaml');
    const probe = /startupProbe:\n.*\n +periodSeconds: (\d+)\n +failureThreshold: (\d+)/.exec(template);
    assert.equal(Number(probe?.[1]) * Number(probe?.[2]), 3600);
  });

  it('The chart gives a server that drains enough time', () => {
    const template = read('deploy/helm/atrium/templates/deployment.yaml');
    const extra = /terminationGracePeriodSeconds: \{\{ add .Values.shutdownDelaySeconds (\d+) \}\}/.exec(template)?.[1];
    assert.ok(Number(extra) > END_SECONDS);
  });
});

describe('The dashboard and the alerts', () => {
  let server: TestServer;
  let metrics: string;
  before(async () => {
    server = await openTestServer({ env: { DEPLOYMENT: 'marketplace', RUN_MODE: 'dev' } });
    await server.as('ann')('GET', '/user');
    await server.call('POST', '/marketplace/api/v1/marketplaces/cloudB/notification/resource', {});
    metrics = await server.instance.metrics.registry.metrics();
  });
  after(() => server.close());

  const dashboard = JSON.parse(read('deploy/grafana/atrium.json')) as Parameters<typeof expressionsOf>[0];
  const rules = parse(read('deploy/prometheus/alerts.yml')) as Rules;
  const alerts = rules.groups.flatMap((group) => group.rules);
  const cases = parse(read('deploy/prometheus/alerts.test.yml')) as {
    tests: { input_series: { series: string }[]; alert_rule_test: { alertname: string; exp_alerts?: object[] }[] }[];
  };

  const exists = (expression: string): void => {
    const series = seriesIn(expression);
    assert.ok(series.length > 0, `no metric was found in ${expression}`);
    for (const { name, labels } of series) {
      if (name === 'up') continue;
      const lines = metrics.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
      const family = new RegExp(`^# TYPE (?:${name} |${name.replace(/_(?:bucket|sum|count)$/, '')} histogram)`, 'm');
      assert.ok(family.test(metrics), `${name} is not a metric of the server`);
      // Prometheus adds the first two. A metric that has no value yet does not show its labels.
      const own = labels.filter((label) => label !== 'job' && label !== 'instance');
      for (const label of own) {
        assert.ok(
          lines.length === 0 || lines.some((line) => line.includes(`${label}="`)),
          `${name} has no label ${label}`,
        );
      }
    }
  };

  it('Every metric and label of the dashboard is one of the server', () => {
    const expressions = expressionsOf(dashboard);
    assert.ok(expressions.length > 15);
    for (const expression of expressions) exists(expression);
  });

  it('Every metric and label of the alerts and of their test cases is one of the server', () => {
    assert.ok(alerts.length >= 10);
    for (const { expr } of alerts) exists(expr);
    for (const { series } of cases.tests.flatMap((one) => one.input_series)) exists(series);
  });

  it('Every alert says what to do, and has a case in which it is raised and one in which it is not', () => {
    for (const { alert, annotations, labels } of alerts) {
      assert.ok(annotations.summary && annotations.description, alert);
      assert.match(labels.severity ?? '', /^(?:critical|warning)$/, alert);
      const tried = cases.tests.flatMap((one) => one.alert_rule_test).filter((one) => one.alertname === alert);
      assert.deepEqual(new Set(tried.map(({ exp_alerts }) => exp_alerts !== undefined)), new Set([true, false]), alert);
    }
  });
});
