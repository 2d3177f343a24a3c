import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openDb, ping, sql } from '../../src/db/db.ts';
import { temporaryFolder } from '../support/server/db.ts';
import { startPostgres, type TestPostgres, unprivilegedUser } from '../support/services/postgres.ts';
import { lacks } from '../support/services/requirements.ts';

const IS_ENCRYPTED = sql('test.isEncrypted', 'select ssl from pg_stat_ssl where pid = pg_backend_pid()');

describe('TLS to PostgreSQL', { skip: lacks('postgresql') }, () => {
  const folder = temporaryFolder();
  const path = (name: string) => join(folder, name);
  let secure: TestPostgres;
  let plain: TestPostgres;

  before(async () => {
    chmodSync(folder, 0o755);
    createAuthority('ca');
    createAuthority('other-ca');
    createCertificate('server', 'ca', 'DNS:localhost');
    const ssl = { ssl: 'on', ssl_cert_file: path('server.crt'), ssl_key_file: path('server.key') };
    secure = await startPostgres({ settings: { ...ssl, listen_addresses: 'localhost' } });
    plain = await startPostgres({ settings: { listen_addresses: 'localhost' } });
  });
  after(async () => {
    await secure.stop();
    await plain.stop();
  });

  it('sslmode=verify-full accepts the certificate of the named CA for the named host, and encrypts', async () => {
    const db = await open(secure, 'localhost', 'ca.crt');
    await ping(db);
    assert.deepEqual(await db.query(IS_ENCRYPTED), [{ ssl: true }]);
    assert.equal(await db.queryRevision(IS_ENCRYPTED), 't');
    await db.close();
  });

  const refusals = [
    [
      'a certificate of another CA',
      () => open(secure, 'localhost', 'other-ca.crt'),
      /name the file of its CA with sslrootcert/,
    ],
    ['a certificate without a known CA', () => open(secure, 'localhost'), /name the file of its CA with sslrootcert/],
    ['a certificate for another host', () => open(secure, '127.0.0.1', 'ca.crt'), /use the name in the certificate/],
    ['a server without encryption', () => open(plain, 'localhost', 'ca.crt'), /set ssl = on/],
    ['a CA file that does not exist', () => open(secure, 'localhost', 'nothing.crt'), /correct sslrootcert/],
  ] as const;
  for (const [what, run, message] of refusals) {
    it(`sslmode=verify-full rejects ${what}, and the message says what to do`, async () => {
      await assert.rejects(run(), { kind: 'unavailable', message });
    });
  }

  function open(server: TestPostgres, host: string, rootCertificate?: string) {
    const url = new URL(server.url);
    url.hostname = host;
    url.searchParams.set('sslmode', 'verify-full');
    if (rootCertificate !== undefined) url.searchParams.set('sslrootcert', path(rootCertificate));
    return openDb({ databaseUrl: url.href, dataDir: folder, say: () => undefined });
  }

  function createAuthority(name: string): void {
    const subject = ['-subj', `/CN=${name}`, '-days', '2', '-keyout', path(`${name}.key`), '-out', path(`${name}.crt`)];
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...subject);
  }

  function createCertificate(name: string, authority: string, names: string): void {
    const asked = ['-subj', `/CN=${name}`, '-keyout', path(`${name}.key`), '-out', path(`${name}.csr`)];
    openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', ...asked);
    writeFileSync(path('names'), `subjectAltName=${names}\n`);
    const by = ['-CA', path(`${authority}.crt`), '-CAkey', path(`${authority}.key`), '-CAcreateserial'];
    openssl(
      'x509',
      '-req',
      '-in',
      path(`${name}.csr`),
      ...by,
      '-days',
      '2',
      '-extfile',
      path('names'),
      '-out',
      path(`${name}.crt`),
    );
    // PostgreSQL reads only a key that is its own.
    const { uid, gid } = unprivilegedUser();
    chmodSync(path(`${name}.key`), 0o600);
    if (uid !== undefined && gid !== undefined) chownSync(path(`${name}.key`), uid, gid);
  }

  function openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'ignore' });
  }
});
