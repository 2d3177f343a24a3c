import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { join } from 'node:path';
import { until } from '../checks/until.ts';
import { temporaryFolder } from '../server/db.ts';

const children = new Set<ChildProcess>();

/** Starts a proxy and waits until it knows its routes: Traefik listens before. */
export async function runProxy(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  port: number,
): Promise<void> {
  const child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'pipe'] });
  children.add(child);
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => {
    said = `${said}${chunk}`.slice(-4000);
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} ended:\n${said}`);
    return await new Promise<boolean>((done) => {
      const knock = http.get({ host: '127.0.0.1', port, path: '/', headers: { Host: 'app.example.com' } });
      knock
        .once('response', (response) => done(response.resume().statusCode !== 404))
        .once('error', ({ message }) => done(!message.includes('ECONNREFUSED')));
    });
  });
}

/** Ends all proxies of this file. Not with SIGKILL: the workers of nginx would outlive it. */
export function endProxies(): void {
  for (const child of children) child.kill('SIGTERM');
  children.clear();
}

/** Runs nginx with what a user puts into its block `http`. */
export async function runNginx(program: string, site: string, port: number, folder = temporaryFolder()): Promise<void> {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  for (const place of places) mkdirSync(join(folder, place));
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/pid; error_log stderr; ${process.getuid?.() === 0 ? 'user root;' : ''} worker_processes 1;
events {}
http {
${places.map((place) => `${place}_temp_path ${folder}/${place};`).join('\n')}
access_log off;
${site}
}`,
  );
  await runProxy(program, ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], {}, port);
}
