import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../base/errors.ts';
import { callerOf, signedIn } from '../../http/admission/access.ts';
import type { Allowance } from '../../http/limits/allowance.ts';
import type { Scope } from '../../http/server.ts';
import { media } from '../../http/wire/schemas.ts';
import { type Ask, collectMyData, type DataFile } from './my-data.ts';

const PREFIX = '/api/v1';
const HEADERS = ['authorization', 'cookie', 'user-agent'] as const;

/** `allowance` has one archive a minute for each person; another one cannot begin while one is being made. */
export function myDataRoutes(scope: Scope, allowance: Allowance): void {
  const running = new Set<bigint>();

  scope.get(
    '/user/export',
    {
      config: { access: signedIn('user', 'never', { scope: 'all', proven: true }) },
      exposeHeadRoute: false,
      schema: {
        summary: 'Export everything about your own account, as a compressed archive of JSON files',
        tags: ['user'],
        extension: true,
        response: { 200: media('application/gzip') },
      },
    },
    async (request, reply) => {
      const { person, sudoBy } = callerOf(request);
      if (sudoBy) {
        const message = 'people export their data themselves, and not an administrator on their behalf';
        throw new AppError('forbidden', message, { reason: 'sudo_forbidden' });
      }
      const now = performance.now();
      const key = String(person.id);
      if (running.has(person.id) || !allowance.take(key, now)) {
        const retryAfter = Math.max(1, allowance.wait(key, now));
        throw new AppError('limited', 'your data is exported once a minute, try again later', { retryAfter });
      }
      running.add(person.id);
      const stream = await archiveOf(collectMyData(person.login, person.id, askAs(request)), () =>
        running.delete(person.id),
      );
      reply.header('Content-Disposition', `attachment; filename="atrium-${person.login}.tar.gz"`);
      reply.header('Cache-Control', 'no-store');
      reply.type('application/gzip');
      return stream as never;
    },
  );
}

/** Files are made as fast as the client receives them. */
async function archiveOf(files: AsyncIterable<DataFile>, ended: () => void) {
  const { pack } = await import('tar-stream');
  const archive = pack();
  const zipped = createGzip();
  // If the client leaves, both end. After any other error, the archive breaks off.
  pipeline(archive, zipped, () => undefined);
  const closed = new Promise<void>((resolve) => zipped.once('close', resolve));
  const fill = async () => {
    for await (const { name, content } of files) {
      const written = new Promise<void>((resolve, reject) => {
        const mtime = new Date();
        archive.entry({ name, mode: 0o600, mtime }, content, (error) => (error ? reject(error) : resolve()));
      });
      // A client that disconnects takes no more of it.
      await Promise.race([written, closed]);
      if (zipped.destroyed) return;
    }
    archive.finalize();
  };
  fill()
    .catch((error: Error) => zipped.destroy(error))
    .finally(ended);
  return zipped;
}

/** The same credential asks, so that every rule of every call holds. */
function askAs(request: FastifyRequest): Ask {
  const given = HEADERS.flatMap((name) => {
    const value = request.headers[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const headers = Object.fromEntries(given);
  return async (path) => {
    const answer = await request.server.inject({
      ...{ method: 'GET', url: `${PREFIX}${path}`, headers, remoteAddress: request.ip },
      payloadAsStream: true,
    });
    const link = String(answer.headers.link ?? '');
    const [, next] = /<[^>]*\/api\/v1(\/[^>]*)>; *rel="next"/.exec(link) ?? [];
    const archivedBefore = answer.headers['x-archived-before']?.toString();
    return { status: answer.statusCode, next, archivedBefore, text: answer.stream().setEncoding('utf8') };
  };
}
