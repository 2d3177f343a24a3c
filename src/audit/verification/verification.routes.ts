import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { AppError } from '../../base/errors.ts';
import { writeJson } from '../../base/json.ts';
import type { SignedTexts } from '../../base/signed-text.ts';
import { callerIn, holdsIn, siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { alsoAs, documentedSchema, Int64, named, Timestamp } from '../../http/wire/schemas.ts';
import type { Audit } from '../audit.ts';
import type { From, Place, Progress, Verdict, Verification, Walk } from './verification.ts';

const NDJSON = 'application/x-ndjson';
/** Shorter than any proxy waits for the next byte. */
const PROGRESS_EVERY_MS = 1000;
const BEGINS_WITHIN_MS = 10;
const DAY_MS = 86_400_000;
const CURSOR_DAYS = 7;
/** The deployment's own chain. */
const DEPLOYMENT = 0n;

const text = (description: string) => Type.Optional(documentedSchema(Type.String({ description }), { minLength: 1 }));
const Query = Type.Object({
  from: Type.Optional(
    Type.Enum(['checkpoint', 'beginning'], {
      description: [
        'Where to start. By default at the last signed checkpoint: proves that its entry and all later ones are unchanged.',
        'beginning reads every entry, and compares every checkpoint with them.',
      ].join(' '),
    }),
  ),
  cursor: text(`The cursor of a line of progress, to go on there. It is valid for ${CURSOR_DAYS} days. Excludes from.`),
});
const AdminQuery = Type.Object({
  ...Query.properties,
  org: text('The chain of this organization: its name, or its ID if it is deleted. By default 0, the deployment.'),
});
const AuditSegment = named(
  'AuditSegment',
  Type.Object(
    {
      first: Type.Unsafe<bigint>({ ...Int64, description: 'Its first entry.' }),
      last: Type.Unsafe<bigint>({ ...Int64, description: 'Its last entry.' }),
      count: Type.Integer({ description: 'How many entries it has.' }),
      last_hash: Type.String({ description: 'The hash of its last entry.' }),
      closed_at: Type.Unsafe<string>({ ...Timestamp, description: 'When it was archived.' }),
      signed: Type.Boolean({ description: 'Whether this deployment signed it.' }),
    },
    { description: 'Entries that were moved to an archive.' },
  ),
);
const AuditVerdict = named(
  'AuditVerdict',
  Type.Object({
    rows: Type.Integer({ description: 'How many entries are kept, with those that the checkpoint covers.' }),
    ok: Type.Boolean(),
    first_broken_id: Type.Unsafe<bigint | null>({ type: ['integer', 'null'], format: 'int64' }),
    checkpoint: Type.Optional(
      Type.Object(
        {
          id: Type.Unsafe<bigint>({ ...Int64, description: 'The last entry that it covers.' }),
          rows: Type.Integer({
            description:
              'How many entries it covers, with archived ones. Those that are kept count in rows, and were not read again.',
          }),
          hash: Type.String({ description: 'The hash of its last entry.' }),
          at: Type.Unsafe<string>({ ...Timestamp, description: 'When these entries were verified.' }),
        },
        { description: 'The signed checkpoint at which the verification started. Absent if it read every entry.' },
      ),
    ),
    segments: Type.Array(AuditSegment, {
      description:
        'What was archived and removed, oldest first. The first entry that is kept follows from the last one.',
    }),
    erased: Type.Integer({
      description:
        'From how many kept entries of earlier releases a person was erased. Their hashes stay, and cannot be computed any more. None is broken if the log of the deployment attests it, in entries user.erase.',
    }),
    problem: Type.Optional(
      Type.Enum(
        ['checkpoint_forged', 'checkpoint_contradicted', 'erasure_unattested', 'segment_forged', 'segment_missing'],
        {
          description: [
            'checkpoint_forged: the checkpoint of the entry first_broken_id, or of a later one, was not signed by this deployment.',
            'checkpoint_contradicted: the entries are not those that were signed.',
            'erasure_unattested: no entry user.erase of the deployment lists an entry from which a person was erased.',
            'segment_forged: the segment that begins with the entry first_broken_id was not signed by this deployment.',
            'segment_missing: what comes before the segment or entry first_broken_id is neither kept nor archived.',
            'Absent if all checkpoints and segments agree.',
          ].join(' '),
        },
      ),
    ),
  }),
);

export function verificationRoutes(
  scope: Scope,
  { verify }: Verification,
  { organizationNamed }: Pick<Audit, 'organizationNamed'>,
  cursors: SignedTexts,
): void {
  const common = { tags: ['audit'], extension: true, response: { 200: alsoAs(AuditVerdict, NDJSON) } };

  scope.get(
    '/orgs/:org/audit/verify',
    {
      config: { access: holdsIn('view_audit_log:org', 'organization') },
      exposeHeadRoute: false,
      schema: {
        summary: 'Verify the audit log of an organization: every entry must follow from the previous one',
        ...common,
        params: Type.Object({ org: Type.String() }),
        querystring: Query,
      },
    },
    async (request, reply) => await send(request, reply, callerIn(request).organization.id, request.query),
  );

  scope.get(
    '/admin/audit/verify',
    {
      config: { access: siteAdmin('admin') },
      exposeHeadRoute: false,
      schema: {
        summary: 'Verify the audit log of the deployment itself, or of any organization or account',
        ...common,
        querystring: AdminQuery,
      },
    },
    async (request, reply) => {
      const { org } = request.query;
      const chainId = org === undefined ? DEPLOYMENT : await organizationNamed(org);
      return await send(request, reply, chainId, request.query);
    },
  );

  async function send(
    request: FastifyRequest,
    reply: FastifyReply,
    chainId: bigint,
    { from = 'checkpoint', cursor }: Static<typeof Query>,
  ): Promise<never> {
    const start: From = cursor === undefined ? from : readProgress(cursors, cursor, chainId, new Date());
    const walk = verify(chainId, start, () => !request.raw.socket.destroyed);
    reply.header('Vary', 'Accept');
    if (!new RegExp(`\\b${NDJSON}\\b`, 'i').test(request.headers.accept ?? '')) {
      // The framework cannot serialize a 64-bit number that may be null.
      reply.type('application/json; charset=utf-8').send(writeJson(present(await walk.verdict)));
    } else reply.type(`${NDJSON}; charset=utf-8`).send(Readable.from(lines(walk, cursors)));
    return reply as never;
  }
}

/** Progress while it lasts, and the verdict as the last line. */
async function* lines({ verdict, progress }: Walk, cursors: SignedTexts): AsyncGenerator<string> {
  // A client that disconnects in the meantime waits for no verdict.
  verdict.catch(() => undefined);
  for (let waitMs = 0; ; ) {
    const found = await Promise.race([verdict, pause(waitMs, undefined, { ref: false })]);
    if (found) return yield `${writeJson(present(found))}\n`;
    const now = progress();
    waitMs = now ? PROGRESS_EVERY_MS : BEGINS_WITHIN_MS;
    if (now) yield `${writeJson({ rows: now.rows, cursor: writeProgress(cursors, now, new Date()) })}\n`;
  }
}

function present({ rows, firstBrokenId, checkpoint, segments, erased, problem }: Verdict) {
  return {
    rows,
    ok: firstBrokenId === null,
    first_broken_id: firstBrokenId,
    ...(checkpoint && {
      checkpoint: {
        ...{ id: checkpoint.lastId, rows: checkpoint.entries, hash: checkpoint.hash.toString('hex') },
        at: checkpoint.createdAt.toISOString(),
      },
    }),
    segments: segments.map(({ first, last, count, lastHash, closedAt, isSigned }) => ({
      ...{ first, last, count, last_hash: lastHash.toString('hex') },
      ...{ closed_at: closedAt.toISOString(), signed: isSigned },
    })),
    erased,
    ...(problem && { problem }),
  };
}

type Saved = readonly [
  chainId: string,
  after: string,
  previous: string,
  rows: number,
  isWhole: boolean,
  firstBrokenId: string | null,
  problem: Progress['problem'] | null,
  archivedLast: string,
];

/** Signed: it says what was verified, and the verdict at the end relies on it. */
function writeProgress(cursors: SignedTexts, now: Progress, at: Date): string {
  const { chainId, after, previous, rows, isWhole, firstBrokenId, problem = null, archived } = now;
  const broken = firstBrokenId === null ? null : String(firstBrokenId);
  const verified = [String(chainId), String(after), previous.toString('hex'), rows, isWhole, broken, problem] as const;
  const saved: Saved = [...verified, String(archived.last)];
  return cursors.make(JSON.stringify(saved), new Date(at.getTime() + CURSOR_DAYS * DAY_MS));
}

function readProgress(cursors: SignedTexts, cursor: string, chainId: bigint, at: Date): Place {
  const content = cursors.read(cursor, at);
  const saved = content === undefined ? undefined : (JSON.parse(content) as Saved);
  if (saved?.[0] !== String(chainId)) {
    throw new AppError('invalid', 'cursor was not issued by this server for this log, or has expired');
  }
  const [, after, previous, rows, isWhole, broken, problem, archivedLast] = saved;
  return {
    ...{ chainId, after: BigInt(after), previous: Buffer.from(previous, 'hex'), rows, isWhole },
    firstBrokenId: broken === null ? null : BigInt(broken),
    problem: problem ?? undefined,
    archived: { last: BigInt(archivedLast) },
  };
}
