import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Everything that the tests need beyond npm: the package, a program that proves it is installed, where that program
 * may be, and whether only tests of the long suite need it.
 */
const PACKAGES = [
  { name: 'postgresql', program: 'initdb', folders: postgresFolders },
  { name: 'nats-server', program: 'nats-server', folders: () => ['/usr/sbin'] },
  { name: 'shellcheck', program: 'shellcheck' },
  { name: 'chromium', program: 'chromium' },
  { name: 'firefox-esr', program: 'firefox-esr', isLong: true },
  { name: 'pgbouncer', program: 'pgbouncer', folders: () => ['/usr/sbin'] },
];

/**
 * Installs missing packages if this user may; what only the long suite needs, if that is what runs. Returns the names of
 * those that are still missing.
 */
export function provideDebianPackages(say, { isLong }) {
  const missing = PACKAGES.filter((one) => !isThere(one) && (isLong || !one.isLong)).map((one) => one.name);
  const unneeded = PACKAGES.filter((one) => !isThere(one) && one.isLong && !isLong).map((one) => one.name);
  const pretended = [...(process.env.TEST_WITHOUT ?? '').split(',').filter(Boolean), ...unneeded];
  if (missing.length === 0) return pretended;
  if (process.getuid?.() === 0 && onPath('apt-get')) {
    say(`the tests need ${missing.join(', ')}: installing`);
    if (!apt('install', missing)) apt('update') && apt('install', missing);
  }
  const left = PACKAGES.filter((one) => missing.includes(one.name) && !isThere(one)).map((one) => one.name);
  if (left.length > 0) say(`skipping tests that need ${left.join(', ')}; run apt-get install ${left.join(' ')}`);
  return [...new Set([...left, ...pretended])];
}

function apt(action, names = []) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = action === 'install' ? ['--yes', '--no-install-recommends'] : [];
  return spawnSync('apt-get', [action, ...options, ...names], { env, stdio: ['ignore', 2, 2] }).status === 0;
}

function isThere({ program, folders = () => [] }) {
  return onPath(program) || folders().some((folder) => existsSync(join(folder, program)));
}

function onPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder && existsSync(join(folder, program)));
}

/** Debian keeps the server's programs out of the PATH, in one folder per version. */
function postgresFolders() {
  const root = '/usr/lib/postgresql';
  return existsSync(root) ? readdirSync(root).map((version) => join(root, version, 'bin')) : [];
}
