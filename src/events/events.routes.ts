import Type from 'typebox';
import { AppError } from '../base/errors.ts';
import type { Caller } from '../http/admission/access.ts';
import { callerOf, signedIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { EVENT_STREAM_HEADERS, openEventStream } from '../http/web/event-stream.ts';
import { documentedSchema, media } from '../http/wire/schemas.ts';
import type { Organization } from '../identity/callers.ts';
import { type EventCaller, requireMember } from './event-listener.ts';
import type { Events } from './events.ts';

const text = (description: string) => Type.Optional(documentedSchema(Type.String({ description }), { minLength: 1 }));
const Query = Type.Object({
  org: text('Only changes of this organization. By default, of all that you are in, and of your own account.'),
  last_event_id: text('Like the header Last-Event-ID, for clients that cannot set headers.'),
  follow: Type.Optional(
    Type.Boolean({ description: 'If false, the stream ends once everything since the last event was sent.' }),
  ),
});

const Events200 = Object.assign(media('text/event-stream'), {
  description: [
    'A stream that lasts until one side ends it. The event `ready` comes first, with the current `revision`. Each event',
    '`change` has the `revision`, as text, the time `at`, and its `changes`: the `kind` and the `id` of what changed, the',
    '`organization` that it belongs to, if any, the `type`, which is the action of the audit log, such as',
    '`team.add_member`, and the ID of the `event`, which webhooks have, too. It names only what the caller may see. The event `reset` means that the',
    'stream may have missed something, or that the caller may see other things than before: load everything again. A',
    'client that connects again sends the `id` of the last event in Last-Event-ID, and hears exactly what it missed.',
  ].join(' '),
});

type FindOrganization = (name: string) => Promise<Organization | undefined>;

export function eventRoutes(scope: Scope, events: Events, organizationNamed: FindOrganization): void {
  scope.get(
    '/events',
    {
      config: { access: signedIn('organization', 'as users', { lasts: true, limited: 'filtered' }) },
      schema: {
        summary: 'Follow what changes, as a stream of server-sent events',
        tags: ['events'],
        extension: true,
        querystring: Query,
        response: { 200: Events200 },
        errors: [429, 503],
      },
    },
    async (request, reply) => {
      const began = performance.now();
      const { org, last_event_id, follow = true } = request.query;
      const caller = callerFor(callerOf(request));
      const organization = org === undefined ? undefined : await organizationNamed(org);
      requireMember(caller, organization, org !== undefined);
      if (request.method === 'HEAD') return reply.headers(EVENT_STREAM_HEADERS).send();
      const header = request.headers['last-event-id'];
      await events.listen({
        caller,
        organization,
        lastEventId: (typeof header === 'string' ? header : undefined) || last_event_id,
        follow,
        readmit: async () => {
          if (!request.readmit) throw new AppError('internal', 'the route does not last');
          return callerFor(await request.readmit());
        },
        open: () => openEventStream(request, reply, { began }),
      });
      return reply;
    },
  );
}

function callerFor({ person, robot, scopes, limits, sudoBy, until, session }: Caller): EventCaller {
  const ends = [until, session?.expiresAt].filter((one) => one != null).sort((a, b) => a.getTime() - b.getTime());
  const accountId = robot?.organization.id ?? person.id;
  return { person, accountId, scopes, isLimited: limits !== undefined, sudoBy, until: ends[0] ?? null };
}
