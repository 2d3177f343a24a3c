import type { FastifyReply } from 'fastify';
import type { Audit } from './audit.ts';

/** What is not in the answer, because it is not in the database any more. */
export async function showArchivedHeaders(
  reply: FastifyReply,
  { archived }: Pick<Audit, 'archived'>,
  chainId: bigint | undefined,
): Promise<void> {
  const found = await archived(chainId);
  if (found) reply.header('X-Archived-Before', found.before.toISOString());
  if (found?.lastHash) reply.header('X-Archived-Hash', found.lastHash.toString('hex'));
}
