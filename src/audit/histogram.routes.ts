import type { FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { callerIn, holdsIn, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { named, Timestamp, timestamp } from '../http/wire/schemas.ts';
import { showArchivedHeaders } from './archived-headers.view.ts';
import { type Audit, HISTOGRAM_DAYS, type Histogram, MAX_COUNTED } from './audit.ts';
import { AuditFilters, OrganizationFilter, readQuestion } from './audit-question.view.ts';

const moment = (description: string) => Type.Unsafe<string>({ ...Timestamp, description });

const AuditHistogram = named(
  'AuditHistogram',
  Type.Object({
    since: moment('When the first span begins: spans are whole, so it can be earlier than asked for.'),
    until: moment('When the last span ends.'),
    span_seconds: Type.Integer({ description: 'How long each span is. The shortest of which at most 100 are needed.' }),
    counts: Type.Array(Type.Integer(), { description: 'How many entries each span has, the oldest first.' }),
    counted_since: Type.Optional(
      moment(
        `Only if there are too many entries: the time of the oldest one that was counted, of the newest ${MAX_COUNTED}.`,
      ),
    ),
  }),
);
const Query = Type.Object(AuditFilters);
const range = `the last ${HISTOGRAM_DAYS} days by default`;

/** How many entries there were when, so that a range can be chosen by looking. */
export function histogramRoutes(
  scope: Scope,
  audit: Pick<Audit, 'histogram' | 'organizationNamed' | 'archived'>,
): void {
  scope.get(
    '/orgs/:org/audit/histogram',
    {
      config: { access: holdsIn('view_audit_log:org', 'organization') },
      schema: {
        summary: `Count the audit entries of an organization by time, ${range}`,
        tags: ['audit'],
        extension: true,
        params: Type.Object({ org: Type.String() }),
        querystring: Query,
        response: { 200: AuditHistogram },
      },
    },
    async (request, reply) => await show(request, reply, callerIn(request).organization.id),
  );

  scope.get(
    '/admin/audit/histogram',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: `Count the audit entries of the whole deployment by time, ${range}`,
        tags: ['audit'],
        extension: true,
        querystring: Type.Object({ ...AuditFilters, org: OrganizationFilter }),
        response: { 200: AuditHistogram },
      },
    },
    async (request, reply) => await show(request, reply, await organizationIn(request)),
  );

  async function show({ query }: FastifyRequest, reply: FastifyReply, chainId: bigint | undefined) {
    const found = await audit.histogram(chainId, readQuestion(query as Static<typeof Query>), new Date());
    await showArchivedHeaders(reply, audit, chainId);
    return present(found);
  }

  async function organizationIn({ query }: FastifyRequest): Promise<bigint | undefined> {
    const { org } = query as { org?: string };
    return org === undefined ? undefined : await audit.organizationNamed(org);
  }
}

function present({ since, until, seconds, counts, reached }: Histogram) {
  return {
    since: timestamp(since),
    until: timestamp(until),
    span_seconds: seconds,
    counts: [...counts],
    ...(reached && { counted_since: timestamp(reached) }),
  };
}
