import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Everything that the tests need beyond npm: the package, a program that shows it is there, and where that may hide. */
const PACKAGES = [
  { name: 'postgresql', program: 'initdb', folders: postgresFolders },
  { name: 'nats-server', program: 'nats-server', folders: () => ['/usr/sbin'] },
  { name: 'shellcheck', program: 'shellcheck' },
];

/** Installs what is missing when this user may, else says exactly what to install and stops. */
export function provideDebianPackages(say, stop) {
  const missing = PACKAGES.filter((one) => !isThere(one)).map((one) => one.name);
  if (missing.length === 0) return;
  const command = `apt-get install --yes --no-install-recommends ${missing.join(' ')}`;
  const mayInstall = process.getuid?.() === 0 && onPath('apt-get');
  if (!mayInstall) {
    stop(`the tests need ${missing.join(', ')}, and this user cannot install it. As root:\n\n    ${command}\n`);
    return;
  }
  say(`the tests need ${missing.join(', ')}: running ${command}`);
  if (!apt(missing)) {
    say('running apt-get update first');
    spawnSync('apt-get', ['update'], { stdio: ['ignore', 2, 2] });
    if (!apt(missing)) stop(`${command} failed; what it said stands above`);
  }
}

function apt(names) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const args = ['install', '--yes', '--no-install-recommends', ...names];
  return spawnSync('apt-get', args, { env, stdio: ['ignore', 2, 2] }).status === 0;
}

function isThere({ program, folders = () => [] }) {
  return onPath(program) || folders().some((folder) => existsSync(join(folder, program)));
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, program)));
}

/** Debian keeps the server's programs out of the PATH, in one folder for each version. */
function postgresFolders() {
  const root = '/usr/lib/postgresql';
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
}
