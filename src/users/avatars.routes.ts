import { createHash } from 'node:crypto';
import Type from 'typebox';
import { anyone } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';

const SIZE = 5;

/** A picture for accounts that have none: the same name always gives the same pattern, and no account is looked up. */
export function avatarRoutes(scope: Scope): void {
  scope.get(
    '/avatars/:name',
    { config: { access: anyone }, schema: { hide: true, params: Type.Object({ name: Type.String() }) } },
    async (request, reply) =>
      reply
        .header('Cache-Control', 'public, max-age=86400')
        .type('image/svg+xml')
        .send(drawIdenticon(request.params.name.toLowerCase())),
  );
}

/** Five by five fields, the right half mirroring the left, in one colour. */
export function drawIdenticon(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  const hue = Math.round((digest.readUInt16BE(0) / 65536) * 360);
  let fields = '';
  for (let column = 0; column < SIZE; column++) {
    const mirrored = Math.min(column, SIZE - 1 - column);
    for (let row = 0; row < SIZE; row++) {
      const isFilled = (digest[2 + mirrored * SIZE + row] ?? 0) % 2 === 0;
      if (isFilled) fields += `<rect x="${column + 0.5}" y="${row + 0.5}" width="1" height="1"/>`;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 6 6" width="240" height="240"><rect width="6" height="6" fill="#f0eee9"/><g fill="hsl(${hue} 55% 45%)">${fields}</g></svg>`;
}
