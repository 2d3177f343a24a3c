import Type from 'typebox';
import { AppError } from '../../base/errors.ts';
import { isRobotPrincipal } from '../../changes/principal.ts';
import { AtQuery, historianOf, presentSince, readAt, showAsOf } from '../../history/as-of.view.ts';
import { callerIn, signedIn } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { OrgQuery } from '../../http/wire/schemas.ts';
import { namesThemselves } from '../asked-principal.ts';
import { NamespaceQuery } from '../places/namespace.view.ts';
import type { TimeMachine } from '../time-machine.ts';
import { type FindReach, outsideLimits } from '../token-reach.ts';
import type { NoteUse } from '../uses/access-uses.ts';
import { ASKED, askedIn, ObjectPath, Relation } from './asked-object.view.ts';
import type { Explain } from './explain.ts';
import { askedOf, ExplainResponse, presentLimited, presentStep, shownObject } from './explain-response.view.ts';
import { presentNamed } from './relationship.view.ts';
import { type Advice, forbiddenBy } from './remedy.ts';
import { presentRemedy } from './remedy.view.ts';

const NOT_PAST = 'Remedies are for the present, not for a past moment.';

/** As of a past moment, or now. */
export type ExplainAt = (at: Date | undefined) => Explain;

interface ExplainParts extends Advice {
  readonly explainAt: ExplainAt;
  readonly timeMachine: Pick<TimeMachine, 'changesSince'>;
  readonly reachOf: FindReach;
  readonly noteUse: NoteUse;
}

export function explainRoutes(scope: Scope, parts: ExplainParts): void {
  const { explainAt, timeMachine, remedies, requestable, forbidding, reachOf, noteUse } = parts;
  const tags = ['authorization'];

  scope.get(
    '/authz/objects/:objectType/:objID/explain',
    {
      config: {
        access: signedIn('authz', 'as users', { about: 'query', limited: 'filtered' }),
        costly: 'ask without paths and remedies, or about the present',
      },
      schema: {
        summary: 'Explain why a user holds a relation on an object, or what is missing',
        tags,
        extension: true,
        params: ObjectPath,
        querystring: Type.Object({
          ...OrgQuery.properties,
          relation: Relation,
          user: Type.Optional(Type.String({ description: ASKED })),
          paths: Type.Optional(
            Type.String({ enum: ['all'], description: 'Also return every way to a yes, not only the first.' }),
          ),
          remedies: Type.Optional(Type.Boolean({ description: 'Also return ways to get from no to yes.' })),
          ...NamespaceQuery,
          ...AtQuery,
        }),
        response: { 200: ExplainResponse },
      },
    },
    async (request, reply) => {
      const { person, organization, limits } = callerIn(request);
      const object = askedIn(request.params, request.query.namespace);
      const { relation, user, paths: which, remedies: wantsRemedies } = request.query;
      const question = { organizationId: organization.id, callerId: person.id, object, relation };
      const at = readAt(request.query.at);
      const reach = await reachOf(limits, organization.id, object);
      if (reach !== 'organization') {
        const isSelf = user === undefined || namesThemselves(callerIn(request), user);
        if (!isSelf || at) throw new AppError('forbidden', outsideLimits(object), { reason: 'token_limited' });
        const isAllowed = reach === 'object' && (await explainAt(undefined).explain(question, undefined)).allowed;
        return { ...presentLimited(question, isAllowed), ...(reach === 'nothing' && { found: false }) };
      }
      const found = await explainAt(at).explain(question, user, which === 'all');
      const { personId, allowed, steps, missing, parts, standing, allowedNow } = found;
      // A robot asks before it lets a user do something; a person who asks about another one is only curious.
      const isUse = allowed && at === undefined && (personId === person.id || isRobotPrincipal(person.id));
      if (isUse) noteUse(personId, organization.id, relation, object.type, object.id);
      const since = at && (await timeMachine.changesSince(historianOf(callerIn(request)), at));
      if (at) showAsOf(reply, at, since);
      // The past cannot be changed, and guardrails are about changes.
      const isNo = !allowed && at === undefined;
      const about = { ...question, userId: personId, standing };
      const searched = isNo && wantsRemedies ? await remedies(about) : undefined;
      const forbidden = isNo && standing === 'seen' ? await forbidding(about) : [];
      const isForbidden = forbidden.length > 0 && !searched?.sentence;
      const couldAsk = isNo && personId === person.id ? await requestable(question) : undefined;
      return {
        ...shownObject(object),
        relation,
        ...askedOf(personId),
        allowed,
        found: found.isFound,
        // The nearest link that is missing is often the membership that grants the most.
        sentence: [searched?.sentence ?? found.sentence, ...(isForbidden ? forbidden.map(forbiddenBy) : [])].join('; '),
        ...(forbidden.length > 0 && { forbidden_by: [...forbidden] }),
        ...(couldAsk && { requestable: couldAsk }),
        steps: steps.map(presentStep),
        missing: [...missing],
        needs: parts.needs.map(presentNamed),
        excluded_by: [...parts.excludedBy],
        trail: parts.trail.map(presentNamed),
        ...(which === 'all' && { paths: found.paths.map((path) => path.map(presentStep)), more: found.hasMorePaths }),
        ...(wantsRemedies && {
          remedies: (searched?.remedies ?? []).map(presentRemedy),
          remedies_note: searched?.note ?? (at ? NOT_PAST : ''),
        }),
        ...(at && {
          at: at.toISOString(),
          allowed_now: allowedNow ?? false,
          ...(since && { changed_since: presentSince(since) }),
        }),
      };
    },
  );
}
