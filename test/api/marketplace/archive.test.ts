import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { temporaryFolder } from '../../support/server/db.ts';
import { lacks } from '../../support/services/requirements.ts';
import { applicationId, binding, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';

/** What an attacker might send to run something on the machine of whoever unpacks the archive. */
const HOSTILE = {
  'key"$(touch pwned)': `'; touch pwned; echo '`,
  'a: b': '$(touch pwned) `touch pwned` $IFS',
  '<<': '*alias',
  anchors: ['&a', '*a', '!!js/function "x"', '- item', '# comment', '%YAML 1.2', '---', '...', '{', '[', '|', '>'],
  words: ['yes', 'no', 'on', 'off', 'null', '~', 'true', '1e3', '0x10', '0o17', '1_000', '12:30:45', '.inf', ''],
  lines: 'one\ntwo\r\nthree\u2028four\u0085five\ttab',
  exact: 9007199254740993n,
  nested: { yes: { on: "it's" } },
};
const hostileText = (installer: string, cluster: string) =>
  JSON.stringify(
    binding(installer, {
      clusterId: cluster,
      cloudAAccountID: `'; touch pwned; '$(touch pwned)\n`,
      adminUsername: `$(touch pwned)`,
      adminPassword: 'hunter2-canary',
      domainWhiteList: ['example.com', 'corp.example.com'],
      options: {
        ...HOSTILE,
        exact: 'EXACT',
        adminPassword: 'hunter2-canary',
        deep: { admin_password: 'hunter2-canary' },
      },
    }),
  ).replace('"EXACT"', '9007199254740993');

/** The same bytes in different characters: two bits of the last of 43 characters are unused. */
function respelled(sig: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const other = sig.slice(0, -1) + alphabet[alphabet.indexOf(sig.at(-1) ?? '') + 1];
  assert.deepEqual(Buffer.from(other, 'base64url'), Buffer.from(sig, 'base64url'));
  return other;
}

describe('The installer archive', () => {
  let market: TestMarketplace;
  let installer: string;
  let link: string;
  let bytes: Buffer;
  const folder = temporaryFolder();
  const run = (command: string, ...args: string[]) => {
    const done = spawnSync(command, args, { cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH } });
    assert.equal(done.error, undefined, `${command} must be there`);
    return done;
  };
  const fetchLink = (url: string, headers: Record<string, string> = {}, method = 'GET') =>
    fetch(url, { headers: { Connection: 'close', ...headers }, method });
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  before(async () => {
    market = await openMarketplace();
    installer = await market.installer('A');
    const answer = await market.notify('A', hostileText(installer, 'cluster-1'));
    link = answer.body.link;
    const response = await fetchLink(link);
    assert.equal(response.status, 200);
    bytes = Buffer.from(await response.arrayBuffer());
    writeFileSync(join(folder, 'archive.tar.gz'), bytes);
    assert.equal(run('tar', '--extract', '--gzip', '--file', 'archive.tar.gz').status, 0);
  });
  after(() => market.close());

  it('The installer archive contains exactly the expected files and is served with no-store', async () => {
    const response = await fetchLink(link);
    assert.deepEqual(
      ['content-type', 'content-disposition', 'cache-control', 'accept-ranges', 'x-content-type-options'].map((name) =>
        response.headers.get(name),
      ),
      ['application/gzip', 'attachment; filename="archive.tar.gz"', 'no-store', 'bytes', 'nosniff'],
    );
    assert.equal(response.headers.get('etag'), `"${createHash('sha256').update(bytes).digest('hex')}"`);
    assert.equal(response.headers.get('content-length'), String(bytes.length));
    const listed = run('tar', '--list', '--verbose', '--gzip', '--file', 'archive.tar.gz').stdout.trim().split('\n');
    assert.deepEqual(
      listed.map((line) => line.split(/\s+/).at(-1)),
      ['README.md', 'env.sh', 'install.sh', 'license', 'metadata.json', 'values.yaml', 'SHA256SUMS', 'SHA256SUMS.sig'],
    );
    for (const line of listed) assert.match(line, /^-rw(xr-xr-x|-r--r--) 0\/0 .* 1970-01-01/);
    assert.equal(statSync(join(folder, 'install.sh')).mode & 0o777, 0o755);
    assert.equal(statSync(join(folder, 'env.sh')).mode & 0o777, 0o644);
  });

  it('The installer archive is byte-for-byte reproducible', async () => {
    for (let time = 0; time < 3; time++) {
      assert.ok(Buffer.from(await (await fetchLink(link)).arrayBuffer()).equals(bytes));
    }
    assert.deepEqual([...bytes.subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255], 'no time, no system');
    const again = await market.notify('A', hostileText(installer, 'cluster-1'));
    assert.equal(again.body.link, link);
  });

  it('The scripts in the installer archive pass bash -n', () => {
    for (const script of ['install.sh', 'env.sh']) {
      const syntax = run('bash', '-n', script);
      assert.equal(syntax.status, 0, syntax.stderr);
    }
  });

  it('The scripts in the installer archive pass shellcheck', { skip: lacks('shellcheck') }, () => {
    for (const script of ['install.sh', 'env.sh']) {
      const style = run('shellcheck', script);
      assert.equal(style.status, 0, style.stdout);
    }
  });

  it('install.sh verify passes for an intact archive and fails once any listed file is changed', () => {
    assert.equal(run('bash', 'install.sh', 'verify').status, 0);
    for (const name of ['values.yaml', 'env.sh', 'install.sh', 'license', 'metadata.json', 'README.md']) {
      const before = read(name);
      writeFileSync(join(folder, name), `${before}\n# changed\n`);
      const result = run('bash', 'install.sh', 'verify');
      assert.equal(result.status, 1, name);
      assert.match(result.stderr, /was changed/);
      writeFileSync(join(folder, name), before);
    }
    assert.equal(run('bash', 'install.sh', 'nonsense').status, 2);
    assert.equal(run('./install.sh', 'verify').status, 0);
  });

  it('The checksums and the license in the archive are signed with the published key', async () => {
    const pem = await (await fetchLink(`${market.url}/links/installer.pub`)).text();
    const key = createPublicKey(pem);
    const sums = readFileSync(join(folder, 'SHA256SUMS'));
    assert.ok(verify(null, sums, key, readFileSync(join(folder, 'SHA256SUMS.sig'))));
    const [header = '', claims = '', signature = ''] = read('license').trim().split('.');
    assert.ok(verify(null, Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')));
    const said = JSON.parse(Buffer.from(claims, 'base64url').toString());
    assert.deepEqual([said.installer, said.cluster, said.marketplace], [installer, 'cluster-1', 'CloudA']);
    writeFileSync(join(folder, 'key.pem'), pem);
    const checked = spawnSync('bash', ['install.sh', 'verify'], {
      cwd: folder,
      env: { ...process.env, SIGNING_KEY: 'key.pem' },
    });
    assert.equal(checked.status, 0, String(checked.stderr));
    assert.ok(read('README.md').includes(pem.trim()));
  });

  it('Hostile installer options end up in the archive as data and are never executed', () => {
    const values = parse(read('values.yaml'), { intAsBigInt: true });
    const { deep, ...options } = values.options;
    assert.deepEqual(options, HOSTILE);
    assert.deepEqual(deep, {});
    assert.deepEqual(values.domainWhiteList, ['example.com', 'corp.example.com']);
    for (const version of ['1.1', '1.2'] as const) {
      const read11 = parse(read('values.yaml'), { version, merge: true }).options;
      assert.deepEqual([read11.words, read11['<<'], read11.nested], [HOSTILE.words, '*alias', HOSTILE.nested], version);
    }
    const shown = run('bash', '-c', '. ./env.sh && printf %s "$ATRIUM_CLOUD_ACCOUNT" && ls');
    assert.ok(shown.stdout.startsWith(`'; touch pwned; '$(touch pwned)\n`));
    assert.ok(!/^pwned$/m.test(shown.stdout.slice(40)), 'nothing was run');
    assert.equal(
      read('install.sh'),
      readFileSync('src/marketplace/installers/install.sh', 'utf8'),
      'the same for everybody',
    );
    assert.match(JSON.parse(read('metadata.json')).administrator, /^touchpwned-\w{12}$/);
  });

  it('The installer archive contains no password', () => {
    const all = run('tar', '--extract', '--gzip', '--to-stdout', '--file', 'archive.tar.gz').stdout;
    assert.doesNotMatch(all, /hunter2|argon2/);
  });

  it('The installer archive supports range and conditional requests', async () => {
    const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;
    const last = bytes.length - 1;
    const table: readonly (readonly [Record<string, string>, number, Buffer | undefined, string | null])[] = [
      [{ Range: 'bytes=0-9' }, 206, bytes.subarray(0, 10), `bytes 0-9/${bytes.length}`],
      [{ Range: 'bytes=10-' }, 206, bytes.subarray(10), `bytes 10-${last}/${bytes.length}`],
      [{ Range: 'bytes=-5' }, 206, bytes.subarray(-5), `bytes ${last - 4}-${last}/${bytes.length}`],
      [{ Range: `bytes=5-${last + 100}` }, 206, bytes.subarray(5), `bytes 5-${last}/${bytes.length}`],
      [{ Range: `bytes=${last + 1}-` }, 416, undefined, `bytes */${bytes.length}`],
      [{ Range: 'bytes=-0' }, 416, undefined, `bytes */${bytes.length}`],
      [{ Range: 'bytes=9-5' }, 416, undefined, `bytes */${bytes.length}`],
      [{ Range: 'bytes=0-1,3-4' }, 200, bytes, null],
      [{ Range: 'lines=0-1' }, 200, bytes, null],
      [{ Range: 'bytes=0-9', 'If-Range': etag }, 206, bytes.subarray(0, 10), `bytes 0-9/${bytes.length}`],
      [{ Range: 'bytes=0-9', 'If-Range': '"other"' }, 200, bytes, null],
      [{ 'If-None-Match': etag }, 304, undefined, null],
    ];
    for (const [headers, status, content, range] of table) {
      const response = await fetchLink(link, headers);
      const got = Buffer.from(await response.arrayBuffer());
      assert.deepEqual(
        [response.status, response.headers.get('content-range')],
        [status, range],
        JSON.stringify(headers),
      );
      assert.ok(got.equals(content ?? Buffer.alloc(0)), JSON.stringify(headers));
    }
    const head = await fetchLink(link, {}, 'HEAD');
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
  });

  it('A tampered or revoked archive link is answered with 404, and an expired one with 410', async () => {
    const url = new URL(link);
    const tampered = (change: (copy: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return copy.href;
    };
    const other = await market.installer('A');
    await market.notify('A', binding(other));
    const changes: ((copy: URL) => void)[] = [
      (copy) => copy.searchParams.delete('sig'),
      (copy) => copy.searchParams.delete('exp'),
      (copy) => copy.searchParams.set('sig', ''),
      (copy) => copy.searchParams.set('sig', 'A'.repeat(43)),
      (copy) => copy.searchParams.append('sig', copy.searchParams.get('sig') ?? ''),
      (copy) => copy.searchParams.set('exp', String(Number(copy.searchParams.get('exp')) + 1)),
      (copy) => copy.searchParams.set('exp', '1e10'),
      (copy) => copy.searchParams.set('exp', '1'),
      (copy) => copy.searchParams.set('exp', `0${copy.searchParams.get('exp')}`),
      (copy) => copy.searchParams.set('sig', respelled(copy.searchParams.get('sig') ?? '')),
      ...['=', '!', '.', ' ', '%0A'].map((more) => (copy: URL) => {
        copy.search += more;
      }),
      (copy) => {
        copy.pathname = copy.pathname.replace(installer, other);
      },
      (copy) => {
        copy.pathname = copy.pathname.replace(/standalone-\w+/, 'acme');
      },
      (copy) => {
        copy.pathname = copy.pathname.replace(/installer\/\d+/, 'installer/1');
      },
      (copy) => {
        copy.pathname = copy.pathname.replace(installer, 'nobody');
      },
    ];
    for (const change of changes) {
      const response = await fetchLink(tampered(change));
      assert.equal(response.status, 404, tampered(change));
      assert.equal(((await response.json()) as { message: string }).message, 'not found');
    }
    const { installers } = market.instance.features.marketplace;
    const old = await installers.link(installer, new Date(Date.now() - 25 * 3_600_000));
    assert.equal((await fetchLink(old)).status, 410);
    assert.equal(
      (await fetchLink(await installers.link(installer, new Date(Date.now() - 23 * 3_600_000)))).status,
      200,
    );
    await installers.revokeLinks(installer);
    assert.equal((await fetchLink(link)).status, 404);
    const renewed = await market.notify('A', hostileText(installer, 'cluster-1'));
    assert.equal(renewed.status, 200);
    assert.equal((await fetchLink(renewed.body.link)).status, 200);
  });

  it('Binding a marketplace B subscription also returns a working archive link', async () => {
    const id = await market.installer('B');
    const bind = { eventType: 'BIND', applicationId: applicationId(), bindingInfo: { installerID: id } };
    const { body } = await market.notify('B', bind);
    assert.equal((await fetchLink(body.link)).status, 200);
  });
});
