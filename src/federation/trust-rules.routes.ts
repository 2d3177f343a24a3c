import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { actorOf, callerOf, holdsOn, ownerIn } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { dropAbsent } from '../http/wire/absent-fields.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { PageQuery, readPage, showPage } from '../http/wire/paging.ts';
import { NoBody, PathId, readId } from '../http/wire/schemas.ts';
import type { TrustCheck } from './trust-check.ts';
import type { TrustRule } from './trust-rule.ts';
import {
  NewTrustRule,
  OutsideTokenBody,
  presentTrustRule,
  presentVerdicts,
  readTrustBody,
  TrustExplanation,
  TrustRuleResponse,
} from './trust-rule.view.ts';
import type { TrustCaller, TrustRules } from './trust-rules.ts';

const RobotPath = { id: PathId };
const RulePath = Type.Object({ ...RobotPath, rule: Type.String({ description: 'ID or name of a trust rule.' }) });

export function trustRuleRoutes(scope: Scope, rules: TrustRules, check: TrustCheck, baseUrl: () => string): void {
  const common = { tags: ['robots'], extension: true, strictQuery: true };
  const seeing = { access: holdsOn('view:robot_ac', 'organization') };
  const changing = {
    access: holdsOn('edit:robot_ac', 'organization', { proven: true, robots: 'never', scope: 'all' }),
  };

  scope.get(
    '/robots/:id/trust_rules',
    {
      config: seeing,
      schema: {
        ...common,
        summary: 'List the trust rules of a robot account: which tokens of other issuers it accepts',
        params: Type.Object(RobotPath),
        querystring: Type.Object(PageQuery),
        response: { 200: Type.Array(TrustRuleResponse) },
      },
    },
    async (request, reply) => {
      const all = await rules.list(idOf(request));
      const page = readPage(request.query);
      showPage(request, reply, baseUrl(), page, all.length);
      return all.slice(page.offset, page.offset + page.limit).map(presentTrustRule);
    },
  );

  scope.post(
    '/robots/:id/trust_rules',
    {
      config: { ...changing, creates: true },
      preValidation: dropAbsent(),
      schema: {
        ...common,
        summary: 'Create a trust rule for a robot account',
        params: Type.Object(RobotPath),
        body: NewTrustRule,
        etag: true,
        response: { 201: TrustRuleResponse },
      },
    },
    async (request, reply) => {
      const wanted = readTrustBody(request.body);
      return await createOnce(
        request,
        reply.code(201),
        (once) => rules.create(callerFor(request), wanted, new Date(), once),
        (rule: TrustRule) => show(reply, rule),
      );
    },
  );

  scope.post(
    '/robots/:id/trust_rules/explain',
    {
      config: { access: holdsOn('edit:robot_ac', 'organization', { level: 'read' }) },
      schema: {
        ...common,
        summary: 'Explain claim by claim which trust rule of a robot account would accept a token, or why none does',
        params: Type.Object(RobotPath),
        body: OutsideTokenBody,
        response: { 200: TrustExplanation },
      },
    },
    async (request) => presentVerdicts(await check.explain(idOf(request), request.body.token.trim(), new Date())),
  );

  scope.get(
    '/robots/:id/trust_rules/:rule',
    {
      config: seeing,
      schema: {
        ...common,
        summary: 'Get a trust rule of a robot account, by ID or name',
        params: RulePath,
        etag: true,
        response: { 200: TrustRuleResponse },
      },
    },
    async (request, reply) => show(reply, await rules.get(idOf(request), request.params.rule)),
  );

  scope.put(
    '/robots/:id/trust_rules/:rule',
    {
      config: changing,
      preValidation: dropAbsent(),
      schema: {
        ...common,
        summary: 'Replace a trust rule of a robot account; unless only its name changes, its tokens end immediately',
        params: RulePath,
        body: NewTrustRule,
        etag: true,
        ifMatch: true,
        response: { 200: TrustRuleResponse },
      },
    },
    async (request, reply) => {
      const wanted = readTrustBody(request.body);
      const { rule } = request.params;
      return show(reply, await rules.update(callerFor(request), rule, wanted, unchanged(request), new Date()));
    },
  );

  scope.delete(
    '/robots/:id/trust_rules/:rule',
    {
      config: changing,
      schema: {
        ...common,
        summary: 'Delete a trust rule of a robot account; its tokens end immediately',
        params: RulePath,
        ifMatch: true,
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await rules.remove(callerFor(request), request.params.rule, unchanged(request));
      return reply.code(204).send();
    },
  );
}

function show(reply: FastifyReply, rule: TrustRule) {
  showEtag(reply, rule);
  return presentTrustRule(rule);
}

function idOf(request: FastifyRequest<{ Params: { id: string } }>): bigint {
  return readId(request.params.id, 'robot ID');
}

function callerFor(request: FastifyRequest<{ Params: { id: string } }>): TrustCaller {
  const { person, scopes, limits, until } = callerOf(request);
  return { robotId: idOf(request), ownerId: ownerIn(request), person, scopes, limits, until, actor: actorOf(request) };
}
