import Type from 'typebox';
import { anyone } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { sendBytes } from '../../http/wire/bytes.ts';
import { media, NoBody, PathId, shownAs } from '../../http/wire/schemas.ts';
import { sha256 } from './archive.ts';
import type { BoundInstaller } from './archive-files.ts';
import type { Installers } from './installers.ts';

const Path = Type.Object({ ownerID: PathId, name: Type.String(), installerID: Type.String() });
const Signature = Type.Object({
  exp: Type.Optional(shownAs(Type.String(), { type: 'integer', format: 'int64' })),
  sig: Type.Optional(Type.String()),
});

export interface LinkParts {
  readonly installers: Installers;
  readonly archive: (installer: BoundInstaller) => Promise<Buffer>;
  readonly publicKey: string;
}

/** The targets of the links in bind responses. A valid signature in the link is all that is required. */
export function linkRoutes(scope: Scope, { installers, archive, publicKey }: LinkParts): void {
  const tags = ['marketplace'];

  scope.get(
    '/links/installer/:ownerID/:name/:installerID/archive.tar.gz',
    {
      // The rules reject a repeated parameter, because no link of ours has one.
      validatorCompiler: () => () => true,
      config: { access: anyone },
      schema: {
        summary: 'Download the archive of a bound installer',
        tags,
        extension: true,
        params: Path,
        querystring: Signature,
        etag: true,
        errors: [410],
        response: { 200: media('application/gzip'), 206: media('application/gzip'), 304: NoBody, 416: NoBody },
      },
    },
    async (request, reply) => {
      const { ownerID: ownerId, name, installerID: installerId } = request.params;
      const installer = await installers.follow({ ownerId, name, installerId, ...sigOf(request.query) }, new Date());
      const bytes = await archive(installer);
      reply.type('application/gzip').header('Content-Disposition', 'attachment; filename="archive.tar.gz"');
      return sendBytes(request, reply, bytes, `"${sha256(bytes)}"`);
    },
  );

  scope.get(
    '/links/installer.pub',
    {
      config: { access: anyone },
      schema: {
        summary: 'Get the public key that archive signatures are verified with',
        tags,
        extension: true,
        response: { 200: media('application/x-pem-file') },
      },
    },
    async (_request, reply) => {
      reply.type('application/x-pem-file');
      return reply.send(Buffer.from(publicKey) as never);
    },
  );
}

function sigOf(query: unknown): { exp: unknown; sig: unknown } {
  const { exp, sig } = query as { exp?: unknown; sig?: unknown };
  return { exp, sig };
}
