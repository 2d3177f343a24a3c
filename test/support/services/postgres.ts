import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import pg from 'pg';
import { freePort } from './ports.ts';

/** A real PostgreSQL for tests and benches, in a temporary folder, reachable only from this machine. */
export interface TestPostgres {
  readonly url: string;
  /** The process ID of the server, for tests that stop it. */
  pid(): number;
  stop(): Promise<void>;
  /** Stops it and copies its data folder, from which another server can start. */
  stopAndKeep(copy: string): Promise<void>;
  /** Ends every connection and starts the server again, on the same port with the same data. */
  restart(): Promise<void>;
  /** The same, but it comes back as a standby without a primary, which only reads until `pg_promote()`. */
  restartAsStandby(): Promise<void>;
  /** Ends the server as a crash does. */
  crash(): Promise<void>;
  /** Creates a database, empty or as a copy of a template, and returns its URL. */
  createDatabase(template?: string): Promise<string>;
  /** Creates a user that needs this password; all others are trusted. */
  demandPassword(user: string, password: string): Promise<void>;
}

export interface TestPostgresOptions {
  /** Settings of postgresql.conf. Tests run without fsync unless it is set here. */
  readonly settings?: Readonly<Record<string, string>>;
  /** A data folder to start from. The server uses a copy of it. */
  readonly from?: string;
  /** The URL of a server that this one follows, as a standby. */
  readonly standbyOf?: string;
}

export async function startPostgres(options: TestPostgresOptions = {}): Promise<TestPostgres> {
  const bin = findBinaries();
  const user = unprivilegedUser();
  const folder = mkdtempSync(join(tmpdir(), 'atrium-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const asUser = { ...user, cwd: folder, env: { PATH: process.env.PATH ?? '', LC_ALL: 'C.UTF-8' } };
  if (options.from) {
    execFileSync('cp', ['-a', options.from, data]);
  } else if (options.standbyOf) {
    const copying = ['-D', data, '-d', options.standbyOf, '-R', '-X', 'stream', '--checkpoint=fast', '--no-sync'];
    const copy = spawn(join(bin, 'pg_basebackup'), copying, { ...asUser, stdio: ['ignore', 'ignore', 'inherit'] });
    const code = await new Promise((resolve) => copy.once('exit', resolve));
    if (code !== 0) throw new Error(`pg_basebackup ended with ${code}`);
  } else {
    execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'atrium', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
      ...asUser,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }

  const port = await freePort();
  const url = `postgres://atrium@127.0.0.1:${port}/postgres`;
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: folder,
    fsync: 'off',
    // In files of its folder, which are removed with it: a server that is killed leaves its share of /dev/shm behind.
    dynamic_shared_memory_type: 'mmap',
    shared_buffers: '128MB',
    max_connections: '200',
    // Compiling a query takes longer than running it on a small database.
    jit: 'off',
    // Looks into each of hundreds of databases, most of which no test uses any more.
    autovacuum: 'off',
    ...options.settings,
  };
  const parameters = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  let server: ChildProcess;

  async function start(): Promise<void> {
    let log = '';
    server = spawn(join(bin, 'postgres'), ['-D', data, ...parameters], {
      ...asUser,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    server.stderr?.on('data', (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-4_000);
    });
    const ended = new Promise<never>((_, reject) => {
      server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log}`)));
    });
    await Promise.race([untilReady(url), ended]);
    ended.catch(() => {});
  }

  /** SIGINT is PostgreSQL's fast shutdown: it ends the connections instead of waiting for them. */
  async function halt(): Promise<void> {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill('SIGINT');
    await ended;
  }

  function killWithUs(): void {
    server.kill('SIGKILL');
  }

  async function stop(): Promise<void> {
    process.off('exit', killWithUs);
    await halt();
    rmSync(folder, { recursive: true, force: true });
  }

  await start();
  process.once('exit', killWithUs);
  return {
    url,
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    stop,
    async stopAndKeep(copy) {
      await halt();
      execFileSync('cp', ['-a', data, copy]);
      await stop();
    },
    async restart() {
      await halt();
      await start();
    },
    async restartAsStandby() {
      await halt();
      writeFileSync(join(data, 'standby.signal'), '');
      await start();
    },
    async crash() {
      const ended = new Promise((resolve) => server.once('exit', resolve));
      server.kill('SIGQUIT');
      await ended;
    },
    createDatabase: (template) => createDatabase(url, template),
    async demandPassword(name, password) {
      await onServer(url, `create role ${pg.escapeIdentifier(name)} login password ${pg.escapeLiteral(password)}`);
      const rules = join(data, 'pg_hba.conf');
      writeFileSync(rules, `host all ${name} 127.0.0.1/32 scram-sha-256\n${readFileSync(rules, 'utf8')}`);
      await onServer(url, 'select pg_reload_conf()');
    },
  };
}

let databases = 0;

/** Creates a database on the server of this URL. */
export async function createDatabase(url: string, template = 'template0'): Promise<string> {
  databases += 1;
  const name = `test_${process.pid}_${databases}_${Math.random().toString(36).slice(2, 8)}`;
  // Copies the files instead of writing all pages to the log, which takes half the time without fsync.
  await onServer(url, `create database ${name} template ${pg.escapeIdentifier(template)} strategy file_copy`);
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}

/**
 * A database to copy from. The first caller creates it and the others wait. The result of `make` is stored as the
 * comment of the database.
 */
export async function createTemplate(
  url: string,
  name: string,
  make: (url: string) => Promise<string>,
): Promise<{ name: string; note: string }> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const find = async () =>
    (
      await client.query(
        `select coalesce(shobj_description(oid, 'pg_database'), '') as note from pg_database where datname = $1`,
        [name],
      )
    ).rows[0];
  try {
    const known = await find();
    if (known) return { name, note: known.note };
    await client.query('select pg_advisory_lock(hashtext($1))', [name]);
    const madeMeanwhile = await find();
    if (madeMeanwhile) return { name, note: madeMeanwhile.note };
    const draft = await createDatabase(url);
    const draftName = new URL(draft).pathname.slice(1);
    const note = await make(draft);
    await client.query(`comment on database ${draftName} is ${pg.escapeLiteral(note)}`);
    await client.query(`alter database ${draftName} rename to ${pg.escapeIdentifier(name)}`);
    return { name, note };
  } finally {
    await client.end();
  }
}

export async function onServer<Row extends object>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

async function untilReady(url: string): Promise<void> {
  for (;;) {
    try {
      await onServer(url, 'select 1');
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Debian keeps the server's programs out of the PATH, in one folder per version. The newest wins. */
function findBinaries(): string {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ];
  const found = folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')));
  if (found !== undefined) return found;
  throw new Error('The tests need a real PostgreSQL, and none is installed here.\n\n    apt-get install postgresql\n');
}

/** PostgreSQL does not run as root. */
export function unprivilegedUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = users.find((user) => user.startsWith('postgres:')) ?? users.find((user) => user.startsWith('nobody:'));
  const [, , uid, gid] = line?.split(':') ?? [];
  if (uid === undefined || gid === undefined) throw new Error('there is neither a user "postgres" nor "nobody" here');
  return { uid: Number(uid), gid: Number(gid) };
}
