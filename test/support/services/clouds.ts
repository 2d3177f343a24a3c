import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createHmac, createVerify, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo, Socket } from 'node:net';
import { after } from 'node:test';
import { azureSignatureHeaders } from '../../../src/buckets/azure-signature.ts';
import { temporaryFolder } from '../server/db.ts';

export interface CloudServer {
  readonly url: string;
  /** How many requests it received. */
  readonly asked: () => number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;
const children = new Set<ChildProcess>();
const closers: (() => void)[] = [];
after(() => {
  for (const child of children) child.kill('SIGKILL');
  for (const close of closers) close();
});

/** A server on loopback that gives the given answers. */
export async function serve(answer: Answer): Promise<CloudServer> {
  let asked = 0;
  const sockets = new Set<Socket>();
  const server = createServer(async (request, response) => {
    asked++;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answer(request, response, Buffer.concat(chunks).toString());
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

/** The S3 server from npm. It knows one pair of keys, S3RVER and S3RVER. */
export async function startS3(buckets: readonly string[]): Promise<{ url: string }> {
  const url = await child(
    `import S3rver from ${JSON.stringify(createRequire(import.meta.url).resolve('s3rver'))};
     const configureBuckets = ${JSON.stringify(buckets.map((name) => ({ name })))};
     const s3 = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory: process.argv[1], configureBuckets });
     console.log('http://127.0.0.1:' + (await s3.run()).port);`,
    [temporaryFolder()],
  );
  return { url };
}

/** S3's documented paging and signatures of ListBuckets, neither of which that server supports. */
export function startPagedS3(count: number, pageSize: number): Promise<CloudServer> {
  return serve((request, response) => {
    const query = new URL(request.url ?? '', 'http://s3').searchParams;
    if (request.headers.authorization !== signatureOf(request)) {
      const words = '<Error><Code>SignatureDoesNotMatch</Code><Message>the signature is wrong</Message></Error>';
      return void response.writeHead(403, { 'Content-Type': 'application/xml' }).end(words);
    }
    const from = Number(query.get('continuation-token') ?? 0);
    const until = Math.min(from + Math.min(pageSize, Number(query.get('max-buckets') ?? pageSize)), count);
    const names = Array.from({ length: until - from }, (_, at) => `<Bucket><Name>b${from + at}</Name></Bucket>`);
    const token = until < count ? `<ContinuationToken>${until}</ContinuationToken>` : '';
    response.setHeader('Content-Type', 'application/xml');
    response.end(
      `<?xml version="1.0"?><ListAllMyBucketsResult><Owner><ID>1</ID></Owner><Buckets>${names.join('')}</Buckets>${token}</ListAllMyBucketsResult>`,
    );
  });
}

/** Signature Version 4 of a request without a body, with the secret S3RVER. */
function signatureOf({ method, url = '', headers }: IncomingMessage): string {
  const [, access, scope = '', names = ''] =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/([^,]+), SignedHeaders=([^,]+),/.exec(headers.authorization ?? '') ?? [];
  const [date = '', region = '', service = '', end = ''] = scope.split('/');
  const { pathname, searchParams } = new URL(url, 'http://s3');
  const query = [...searchParams].map((pair) => pair.map(encodeURIComponent).join('=')).sort();
  const lines = names.split(';').map((name) => `${name}:${headers[name]}\n`);
  const hash = headers['x-amz-content-sha256'];
  const canonical = [method, pathname, query.join('&'), lines.join(''), names, hash].join('\n');
  const hashed = createHash('sha256').update(canonical).digest('hex');
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, hashed].join('\n');
  const hmac = (key: Buffer | string, data: string) => createHmac('sha256', key).update(data).digest();
  const key = [date, region, service, end].reduce<Buffer | string>(hmac, 'AWS4S3RVER');
  const signature = hmac(key, text).toString('hex');
  return `AWS4-HMAC-SHA256 Credential=${access}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
}

export const AZURE = { account: 'atriumtest', key: randomBytes(64).toString('base64') };

/** Microsoft's own server for blob storage. */
export async function startAzurite(): Promise<{ url: string }> {
  const main = createRequire(import.meta.url).resolve('azurite/dist/src/blob/main.js');
  const args = [
    '--blobHost',
    '127.0.0.1',
    '--blobPort',
    '0',
    '--silent',
    '--skipApiVersionCheck',
    '--disableTelemetry',
  ];
  const env = { AZURITE_ACCOUNTS: `${AZURE.account}:${AZURE.key}` };
  const script = `process.argv.splice(1, 0, 'azurite'); await import(${JSON.stringify(main)});`;
  const url = await child(script, [...args, '--location', temporaryFolder()], env);
  return { url: `${url}/${AZURE.account}` };
}

/** Azurite checks the signature. */
export async function createContainer(endpoint: string, name: string): Promise<void> {
  const url = new URL(`${endpoint}/${name}?restype=container`);
  const { status } = await fetch(url, { method: 'PUT', headers: azureSignatureHeaders(AZURE, 'PUT', url, new Date()) });
  if (status !== 201) throw new Error(`the container was answered with ${status}`);
}

/** Blob storage's documented paging of List Containers. Keys are not checked. */
export async function startPagedAzure(count: number): Promise<{ url: string }> {
  const { url } = await serve((request, response) => {
    const query = new URL(request.url ?? '', 'http://azure').searchParams;
    const from = Number(query.get('marker') ?? 0);
    const end = Math.min(from + Number(query.get('maxresults')), count);
    const names = Array.from({ length: end - from }, (_, at) => `<Container><Name>c${from + at}</Name></Container>`);
    const marker = `<NextMarker>${end < count ? end : ''}</NextMarker>`;
    response.setHeader('Content-Type', 'application/xml');
    response.end(
      `<?xml version="1.0"?><EnumerationResults><Containers>${names.join('')}</Containers>${marker}</EnumerationResults>`,
    );
  });
  return { url: `${url}/${AZURE.account}` };
}

/** A process that prints its address, and ends when this one does, however that happens. */
async function child(script: string, args: string[] = [], env: Record<string, string> = {}): Promise<string> {
  const whole = `process.stdin.resume().on('end', () => process.exit());\n${script}`;
  const started = spawn(process.execPath, ['--input-type=module', '-e', whole, '--', ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  children.add(started);
  return await new Promise((resolve, reject) => {
    let text = '';
    started.stdout?.on('data', (chunk) => {
      text += chunk;
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0];
      if (url) resolve(url);
    });
    started.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)));
  });
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
export const GOOGLE = { email: 'atrium@demo.iam.gserviceaccount.com', privateKey };

/** Cloud storage's documented JSON API: a signed assertion for a token, then pages of a project's buckets. */
export function startGoogle(count: number, pageSize: number): Promise<CloudServer> {
  const tokens = new Set<string>();
  return serve((request, response, body) => {
    const url = new URL(request.url ?? '', 'http://google');
    const send = (status: number, value: object) => {
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
    };
    if (url.pathname === '/token') {
      if (!isSigned(new URLSearchParams(body).get('assertion') ?? '')) {
        return send(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
      }
      const token = randomBytes(16).toString('hex');
      tokens.add(token);
      return send(200, { access_token: token, expires_in: 3600, token_type: 'Bearer' });
    }
    if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) {
      return send(401, { error: { code: 401, message: 'Invalid Credentials' } });
    }
    const project = url.searchParams.get('project');
    if (project !== 'demo') return send(404, { error: { code: 404, message: `no project ${project}` } });
    const from = Number(url.searchParams.get('pageToken') ?? 0);
    const until = Math.min(from + Math.min(pageSize, Number(url.searchParams.get('maxResults'))), count);
    const items = Array.from({ length: until - from }, (_, at) => ({ id: `g${from + at}`, name: `g${from + at}` }));
    send(200, { kind: 'storage#buckets', items, ...(until < count && { nextPageToken: String(until) }) });
  });
}

function isSigned(assertion: string): boolean {
  const [head = '', claims = '', signature = ''] = assertion.split('.');
  return createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url');
}

/** A key that the server above does not know. */
export function foreignKey(): string {
  const other = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return other.privateKey;
}
