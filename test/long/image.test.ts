import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { after, describe, it } from 'node:test';
import { commandsOf, environmentOf, lastOf, quoted, readDockerfile } from '../support/checks/dockerfile.ts';
import { progress } from '../support/checks/progress.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { freePort } from '../support/services/ports.ts';

/**
 * Docker does more, but not much that could break here: the instructions of the Dockerfile run in a root folder of
 * their own, over the files of this machine instead of those of the base image. Needs the rights to mount.
 */
const isPossible =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0;
const PROGRESS_MS = 30_000;

const children = new Set<ReturnType<typeof spawn>>();
after(() => {
  for (const child of children) if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
});

describe('The image of the Dockerfile', () => {
  it('The image builds, and serves as its own user on a read-only root file system', async (test) => {
    if (!isPossible) {
      const why = 'NOT TRIED: the image, because this user may not mount';
      progress(why);
      return test.skip(why);
    }
    const [build, image] = readDockerfile('Dockerfile');
    assert.ok(build && image);
    const context = temporaryFolder();
    for (const name of readFileSync('.dockerignore', 'utf8').match(/(?<=^!).*$/gm) ?? []) {
      // What is ignored by Git is made by the build.
      const filter = (path: string) => !/(?:^|\/)(?:node_modules|dist)(?:\/|$)/.test(path.slice(resolve('.').length));
      if (existsSync(name)) cpSync(resolve(name), join(context, name), { recursive: true, filter });
    }
    const [port, adminPort] = [await freePort(), await freePort()];
    const env = { ...environmentOf(image), HOST: '127.0.0.1', PORT: port, ADMIN_PORT: adminPort, SHUTDOWN_DELAY_MS: 0 };
    const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const command = (text: string) => (JSON.parse(text) as string[]).map(quoted).join(' ');
    const [uid, gid] = lastOf(image, 'USER').split(':');
    const asUser = `chroot "$root" setpriv --reuid=${uid} --regid=${gid} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all env -i PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/node ${settings.join(' ')}`;
    const health = command(lastOf(image, 'HEALTHCHECK').replace(/^.*?CMD /, ''));
    const script = `
set -eu
context=${context}
mount -t tmpfs -o size=4g tmpfs /mnt
stage() {
  mkdir -p "/mnt/$1/up" "/mnt/$1/work" "/mnt/$1/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=/mnt/$1/up,workdir=/mnt/$1/work" "/mnt/$1/root"
  root=/mnt/$1/root
  mount --rbind /proc "$root/proc"; mount --rbind /dev "$root/dev"; mount -t tmpfs tmpfs "$root/tmp"
  touch "$root/usr/local/bin/node"; mount --bind ${process.execPath} "$root/usr/local/bin/node"
  grep -q ^node: "$root/etc/passwd" || echo node:x:1000:1000::/home/node:/bin/sh >> "$root/etc/passwd"
  grep -q ^node: "$root/etc/group" || echo node:x:1000: >> "$root/etc/group"
  mkdir -p "$root/home/node"; chown 1000:1000 "$root/home/node"
  rm -rf "$root/app" "$root/data" "$root/usr/local/bin/atrium"
}
stage build
${commandsOf(build).join('\n')}
stage_build=$root
echo BUILT
stage image
${commandsOf(image).join('\n')}
echo OWNER $(stat -c %u:%g:%a "$root/data")
echo TOOLS $(ls -d "$root"/app/node_modules/typescript "$root"/app/src 2> /dev/null | wc -l)
mkdir /mnt/data; chown ${uid}:${gid} /mnt/data; chmod 700 /mnt/data; mount --bind /mnt/data "$root/data"
mount -o remount,ro "$root"
if ${asUser} touch /app/x /home/node/x 2> /dev/null; then echo WRITABLE; fi
${asUser} sh -c 'cd /app && exec "$@"' sh ${command(lastOf(image, 'CMD'))} > /mnt/out 2>&1 &
server=$!
for round in $(seq 1 240); do
  if curl -sf -m 2 http://127.0.0.1:${adminPort}/readyz > /dev/null; then break; fi
  kill -0 $server || break
  sleep 0.25
done
cat /mnt/out
grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs):' /proc/$server/status
curl -s http://127.0.0.1:${port}/api/v1/version; echo
curl -s http://127.0.0.1:${port}/ | grep -c '<html' || true
if ${asUser} ${health}; then echo HEALTHY; fi
${asUser} sh -c 'cd /app && atrium version' | head -1
kill -TERM $server
wait $server && echo ENDED 0 || echo ENDED $?
if ${asUser} ${health}; then echo STILL HEALTHY; else echo UNHEALTHY; fi
`;
    const file = join(temporaryFolder(), 'image.sh');
    writeFileSync(file, script);
    const child = spawn('unshare', ['--mount', '--propagation', 'private', 'bash', file], { detached: true });
    children.add(child);
    const began = performance.now();
    const timer = setInterval(() => {
      progress(`building the image, ${Math.round((performance.now() - began) / 1000)} s so far`);
    }, PROGRESS_MS);
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        said += chunk;
      });
    }
    const code = await new Promise((done) => child.once('close', done));
    children.delete(child);
    clearInterval(timer);
    assert.equal(code, 0, said);
    for (const expected of [
      /^BUILT$/m,
      /^OWNER 1000:1000:700$/m,
      /^TOOLS 0$/m,
      /^Uid:\t1000\t1000/m,
      /^CapEff:\t0+$/m,
      /^CapBnd:\t0+$/m,
      /^NoNewPrivs:\t1$/m,
      /^\{"version":"v\d/m,
      /^HEALTHY$/m,
      /^program: +v\d/m,
      /^ENDED 0$/m,
      /^UNHEALTHY$/m,
    ]) {
      assert.match(said, expected);
    }
    assert.doesNotMatch(said, /WRITABLE|STILL HEALTHY/);
  });
});
