import { createHmac, generateKeyPairSync, sign as signWith } from 'node:crypto';
import { exportSPKI } from 'jose';
import type { FakeIssuer } from '../services/token-issuer.ts';

type Claims = Record<string, unknown>;

export interface HostileToken {
  readonly name: string;
  readonly text: string;
}

const part = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/**
 * Tokens that nobody must accept for a rule with the claim `repository_id: "123"` and `/build/number: "7"`, whose keys are those
 * that the issuer publishes. `mine` is a valid token.
 */
export async function hostileTokens(issuer: FakeIssuer, audience: string): Promise<HostileToken[]> {
  const build = { build: { number: 7 } };
  const claims = (more: Claims = {}) => issuer.claims(audience, { ...build, ...more });
  const mine = await issuer.sign(claims());
  const [head = '', body = '', signature = ''] = mine.split('.');
  const now = Math.floor(Date.now() / 1000);
  const found: HostileToken[] = [];
  const add = (name: string, text: string) => found.push({ name, text });
  const { privateKey } = issuer.keyOf('first');
  const secrets = [
    await exportSPKI(issuer.keyOf('first').publicKey),
    JSON.stringify(issuer.published[0]),
    '',
    'secret',
  ];

  /** Signed with the right key, whatever the header and the claims are, also if they are no JSON. */
  async function signed(header: unknown, said: unknown): Promise<string> {
    const text = `${part(header)}.${part(said)}`;
    const bytes = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(text));
    return `${text}.${Buffer.from(bytes).toString('base64url')}`;
  }
  const header = (more: Claims = {}) => ({ alg: 'RS256', kid: 'first', typ: 'JWT', ...more });

  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, 1, ['RS256'], { alg: 'RS256' }, true]) {
    for (const last of ['', signature, 'AA']) {
      add(
        `alg ${JSON.stringify(alg)} and the signature "${last.slice(0, 4)}"`,
        `${part(header({ alg }))}.${body}.${last}`,
      );
    }
    add(`alg ${JSON.stringify(alg)}, signed`, await signed(header({ alg }), claims()));
  }
  add('no alg', await signed({ kid: 'first' }, claims()));
  for (const alg of ['HS256', 'HS384', 'HS512']) {
    for (const secret of secrets) {
      const text = `${part(header({ alg }))}.${body}`;
      const mac = createHmac(`sha${alg.slice(2)}`, secret)
        .update(text)
        .digest('base64url');
      add(`${alg} with ${secret.slice(0, 12)} as its secret`, `${text}.${mac}`);
    }
    add(`${alg} with the signature of RS256`, await signed(header({ alg }), claims()));
  }
  const others = [
    'RS384',
    'RS512',
    'PS256',
    'PS384',
    'PS512',
    'ES256',
    'ES384',
    'ES512',
    'EdDSA',
    'ES256K',
    'RS1',
    'rs256',
  ];
  for (const alg of [...others, 'RSA-OAEP', 'A128KW', 'dir', 'Ed448', 'RS256 ', ' RS256']) {
    add(`the algorithm ${alg} with a signature of RS256`, await signed(header({ alg }), claims()));
  }

  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const byStranger = (more: Claims) => {
    const text = `${part(header(more))}.${body}`;
    return `${text}.${signWith('sha256', Buffer.from(text), stranger.privateKey).toString('base64url')}`;
  };
  const jwk = stranger.publicKey.export({ format: 'jwk' });
  const spki = stranger.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
  add('another key under the same name', byStranger({}));
  add('another key under another name', byStranger({ kid: 'second' }));
  add('another key without a name', byStranger({ kid: undefined }));
  for (const more of [
    { jwk },
    { jwk, kid: undefined },
    { jku: `${issuer.url}/keys` },
    { jku: 'https://evil.example/keys', kid: 'evil' },
    { x5u: `${issuer.url}/certificate` },
    { x5c: [spki] },
    { crit: [] },
    { crit: ['b64'], b64: false },
    { crit: ['exp'], exp: now + 60 },
  ]) {
    add(`another key, and ${JSON.stringify(more).slice(0, 40)} in the header`, byStranger(more));
    const [forbidden = ''] = Object.keys(more);
    if (forbidden !== 'x5c')
      add(`${JSON.stringify(more).slice(0, 40)} in a header of the right key`, await signed(header(more), claims()));
  }
  for (const kid of [
    '',
    'FIRST',
    'first ',
    '../first',
    "' or '1'='1",
    'first\u0000',
    'ﬁrst',
    1,
    null,
    ['first'],
    { kid: 'first' },
    '__proto__',
  ]) {
    add(`the key name ${JSON.stringify(kid)}`, await signed(header({ kid }), claims()));
  }
  const text256 = `${part(header({ alg: 'ES256' }))}.${body}`;
  add(
    'ES256 with the name of an RSA key',
    `${text256}.${signWith('sha256', Buffer.from(text256), { key: elliptic.privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`,
  );
  add('ES256 with a signature of zeros', `${text256}.${Buffer.alloc(64).toString('base64url')}`);
  add('RS256 with a signature of zeros', `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`);
  add('RS256 with a signature of ones', `${head}.${body}.${Buffer.alloc(256, 255).toString('base64url')}`);
  for (const typ of ['logout+jwt', 'LOGOUT+JWT', 'application/logout+jwt', 'secevent+jwt', 1, null, ['JWT']]) {
    add(`the type ${JSON.stringify(typ)}`, await signed(header({ typ }), claims()));
  }
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  for (const events of [event, {}, null, [], 'x'])
    add(`events ${JSON.stringify(events)}`, await signed(header(), claims({ events })));

  const issuers = [
    `${issuer.url}/`,
    issuer.url.toUpperCase(),
    issuer.url.replace('http:', 'https:'),
    issuer.url.replace('127.0.0.1', 'localhost'),
  ];
  for (const iss of [
    ...issuers,
    ` ${issuer.url}`,
    `${issuer.url}#`,
    `${issuer.url}?`,
    `${issuer.url}\u0000`,
    '',
    null,
    1,
    [issuer.url],
    { url: issuer.url },
    undefined,
  ]) {
    add(`the issuer ${JSON.stringify(iss)}`, await signed(header(), claims({ iss })));
  }
  const audiences = [
    `${audience}/`,
    audience.toUpperCase(),
    audience.slice(0, -1),
    `${audience}x`,
    `${audience}*`,
    '*',
    '',
    null,
    1,
    true,
    undefined,
  ];
  for (const aud of audiences) {
    add(`the audience ${JSON.stringify(aud)}`, await signed(header(), claims({ aud })));
    add(`the audience [${JSON.stringify(aud)}]`, await signed(header(), claims({ aud: [aud] })));
  }
  for (const aud of [[], [[audience]], { [audience]: true }, { aud: audience }, [audience, 1], [null, audience]]) {
    add(`the audience ${JSON.stringify(aud)}`, await signed(header(), claims({ aud })));
  }

  const times: Claims[] = [
    { exp: now - 61 },
    { exp: now - 3600, iat: now - 7200 },
    { exp: undefined },
    { iat: undefined },
    { exp: undefined, iat: undefined },
    { iat: now + 3600, exp: now + 3900 },
    { iat: now + 86_400, exp: now + 90_000 },
    { iat: now, exp: now + 86_401 },
    { exp: now + 10 * 365 * 86_400 },
    { iat: now - 86_400, exp: now + 1 },
    { iat: 0, exp: now + 60 },
    { iat: now + 10, exp: now + 5 },
    { iat: now, exp: now },
    { nbf: now + 3600 },
    { nbf: now + 10 * 365 * 86_400 },
    { nbf: String(now) },
    { nbf: null },
    { nbf: {} },
    { exp: String(now + 60) },
    { iat: String(now) },
    { exp: null },
    { iat: null },
    { exp: [now + 60] },
    { iat: [now] },
    { exp: true },
    { iat: true },
    { exp: -1 },
    { iat: -1 },
    { exp: (now + 60) * 1000 },
    { iat: now * 1000, exp: (now + 60) * 1000 },
    { exp: 1e300 },
    { exp: { valueOf: now + 60 } },
    { exp: new Date((now + 60) * 1000).toISOString() },
  ];
  for (const more of times) add(`the times ${JSON.stringify(more)}`, await signed(header(), claims(more)));
  const raw = JSON.stringify(claims());
  for (const number of ['1e999', '-1e999', '0x7fffffff', 'NaN', 'Infinity', '0.1e-400']) {
    add(`exp ${number}`, await signed(header(), raw.replace(/"exp":\d+/, `"exp":${number}`)));
  }

  const values: unknown[] = [
    '124',
    '1234',
    '12',
    '',
    ' 123',
    '123 ',
    '0123',
    '١٢٣',
    '*',
    '12*',
    '123*',
    '1*3',
    '%31%32%33',
    '123\u0000',
    '１２３',
  ];
  for (const value of [
    ...values,
    124,
    12.3,
    123.5,
    -123,
    true,
    false,
    null,
    [],
    ['123'],
    [123],
    {},
    { id: '123' },
    undefined,
    [['123']],
    '["123"]',
  ]) {
    add(`repository_id ${JSON.stringify(value)}`, await signed(header(), claims({ repository_id: value })));
  }
  for (const name of [
    'Repository_ID',
    'repository_id ',
    ' repository_id',
    'repository-id',
    'repository_id\u0000',
    '/repository_id',
    '__proto__',
    'constructor',
  ]) {
    add(
      `the claim ${JSON.stringify(name)} instead`,
      await signed(header(), raw.replace('"repository_id"', JSON.stringify(name))),
    );
  }
  add(
    'repository_id in __proto__',
    await signed(header(), raw.replace('"repository_id":"123"', '"__proto__":{"repository_id":"123"}')),
  );
  add(
    'repository_id in a nested object',
    await signed(header(), claims({ repository_id: undefined, more: { repository_id: '123' } })),
  );
  for (const nested of [
    undefined,
    null,
    7,
    '7',
    [],
    [7],
    { number: 8 },
    { number: '8' },
    { number: [7] },
    { number: { number: 7 } },
    { Number: 7 },
    [{ number: 7 }],
    { number: null },
    { number: '7 ' },
  ]) {
    add(`build ${JSON.stringify(nested)}`, await signed(header(), claims({ build: nested })));
  }
  add(
    'a claim with a slash in its name instead of a nested one',
    await signed(header(), claims({ build: undefined, 'build/number': 7, '/build/number': 7 })),
  );

  const member = (name: string) => JSON.stringify(claims()[name]);
  const doubled: [name: string, wrong: string][] = [
    ['repository_id', '"124"'],
    ['iss', '"https://evil.example"'],
    ['aud', '"elsewhere"'],
    ['exp', '1'],
    ['iat', '1'],
    ['jti', '"other"'],
    ['sub', '"other"'],
  ];
  for (const [name, wrong] of doubled) {
    const right = name === 'exp' ? String(now + 300) : name === 'iat' ? String(now) : member(name);
    add(`${name} twice, the wrong one first`, await signed(header(), `{"${name}":${wrong},${raw.slice(1)}`));
    add(`${name} twice, the wrong one last`, await signed(header(), `${raw.slice(0, -1)},"${name}":${wrong}}`));
    add(`${name} twice, both right`, await signed(header(), `{"${name}":${right},${raw.slice(1)}`));
    const escaped = `\\u00${name.charCodeAt(0).toString(16)}${name.slice(1)}`;
    add(`${name} twice, once escaped`, await signed(header(), `{"${escaped}":${right},${raw.slice(1)}`));
  }
  add('a nested member twice', await signed(header(), raw.replace('{"number":7}', '{"number":8,"number":7}')));
  add('alg twice', await signed(`{"alg":"none",${JSON.stringify(header()).slice(1)}`, raw));
  add('kid twice', await signed(`{"kid":"other",${JSON.stringify(header()).slice(1)}`, raw));
  for (const jti of [1, true, ['a'], { a: 1 }, 'a\u0000'])
    add(`the jti ${JSON.stringify(jti)}`, await signed(header(), claims({ jti })));
  for (const sub of [1, ['a'], { a: 1 }, 'a\u0000', 'a'.repeat(5000)])
    add(`the sub ${JSON.stringify(sub).slice(0, 30)}`, await signed(header(), claims({ sub })));

  for (const said of [
    '[]',
    'null',
    '"text"',
    '1',
    'true',
    '',
    ' ',
    '{',
    '{}',
    `${raw},`,
    `[${raw}]`,
    `${raw}${raw}`,
    `\ufeff${raw}`,
  ]) {
    add(`the claims ${said.slice(0, 20)}`, await signed(header(), said));
  }
  for (const said of ['[]', 'null', '"RS256"', '', '{', '{}', `[${JSON.stringify(header())}]`])
    add(`the header ${said}`, await signed(said, claims()));
  const unreadable = `${part(header())}.${Buffer.from([0x7b, 0xff, 0xfe, 0x7d]).toString('base64url')}`;
  add('claims that are no UTF-8', `${unreadable}.${signature}`);
  add(
    'deeply nested claims',
    await signed(header(), raw.replace('{"number":7}', `{"number":7,"deep":${'['.repeat(500)}${']'.repeat(500)}}`)),
  );
  add('very long claims', await signed(header(), claims({ filler: 'x'.repeat(20_000) })));

  const shapes = [
    '',
    '.',
    '..',
    '...',
    `${head}.${body}`,
    `${head}.${body}.`,
    `.${body}.${signature}`,
    `${head}..${signature}`,
    `${mine}.`,
    `.${mine}`,
    `${mine}.${signature}`,
    ` ${mine}`,
    `${mine}=`,
    `${head}=.${body}.${signature}`,
    `${head}.${body}\n.${signature}`,
    `${head}.${body}.${signature}\n`,
    `${head}.${body}.${signature.slice(0, -2)}`,
    `${head}.${body}.${signature}AAAA`,
    `${head}.${body}.${[...signature].reverse().join('')}`,
    `${body}.${head}.${signature}`,
    `Bearer ${mine}`,
    JSON.stringify({ protected: head, payload: body, signature }),
    JSON.stringify({ payload: body, signatures: [{ protected: head, signature }] }),
    mine.replaceAll('.', '%2E'),
    Buffer.from(mine).toString('base64url'),
    'a'.repeat(20_000),
    `${head}.${body}.${'A'.repeat(17_000)}`,
    `${head}.${part(claims({ jti: 'other' }))}.${signature}`,
    `${part(header({ typ: 'at+jwt' }))}.${body}.${signature}`,
  ];
  for (const [place, text] of shapes.entries()) add(`shape ${place}: ${text.slice(0, 20)}`, text);
  return found;
}
