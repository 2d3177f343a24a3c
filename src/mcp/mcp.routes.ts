import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { readJsonInSteps, writeJson } from '../base/json.ts';
import { throughMcp } from '../changes/audit-entry.ts';
import { actorOf, anyone, callerOf, signedIn } from '../http/admission/access.ts';
import { STATUS } from '../http/error-format.ts';
import { validatorOf } from '../http/schema-compiler.ts';
import { type Scope, sendText } from '../http/server.ts';
import { scopesAllow } from '../identity/scopes.ts';
import type { AccessTool } from './access-tool.ts';
import { FAULTS, MCP_PATH, RESOURCE_METADATA } from './mcp-error.view.ts';
import { isObject, type Message, readMessage, VERSIONS, WITH_INITIALIZE } from './mcp-message.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  rejectionOf,
  type ToolAnswer,
  type ToolCaller,
  type ToolCalls,
} from './tool-calls.ts';
import { SCOPE_OF, TOOLS, type Tool, type ToolName } from './tool-list.ts';

interface Parts {
  readonly calls: ToolCalls;
  readonly access: AccessTool;
  readonly organizationNamed: (name: string) => Promise<{ readonly id: bigint; readonly name: string } | undefined>;
  readonly version: string;
  readonly baseUrl: () => string;
}

/** What a message is answered with: a result, or an error of the protocol. */
type Outcome =
  | { readonly result: object }
  | { readonly code: number; readonly message: string; readonly data?: object };

const LIST_TTL_MS = 3_600_000;
/** Whatever could change how a text looks, or be taken for the end of it. */
const ODD = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
const validators = new Map(TOOLS.map(({ name, inputSchema }) => [name as string, validatorOf(inputSchema, 'body')]));

/** The Model Context Protocol: streamable HTTP, one JSON answer to each message. */
export function mcpRoutes(scope: Scope, { calls, access, organizationNamed, version, baseUrl }: Parts): void {
  const serverInfo = { name: 'atrium', title: 'Atrium', version };

  scope.post(
    MCP_PATH,
    {
      config: {
        access: signedIn('authz', 'as users', {
          scope: 'any',
          limited: 'filtered',
          isTokenOnly: true,
          delegates: true,
        }),
      },
      onRequest: [rejectForeignOrigin],
      schema: { hide: true },
    },
    async (request, reply) => {
      const header = (name: string) => [request.headers[name]].flat()[0];
      const headers = {
        version: header('mcp-protocol-version'),
        method: header('mcp-method'),
        name: header('mcp-name'),
      };
      const read = readMessage(request.body, headers);
      if ('fault' in read) {
        const data = { supported: VERSIONS, requested: headers.version ?? null };
        const error = { code: FAULTS[read.fault], message: read.why, ...(read.fault === 'version' && { data }) };
        return answer(reply.code(400), read.id ?? null, error);
      }
      const { message, isStateless } = read;
      if (message.id === undefined) return reply.code(202).send();
      const outcome = await outcomeOf(request, message, isStateless);
      if ('result' in outcome) return answer(reply, message.id, undefined, outcome.result);
      if (isStateless && outcome.code === FAULTS.method) reply.code(404);
      return answer(reply, message.id, outcome);
    },
  );

  async function outcomeOf(request: FastifyRequest, message: Message, isStateless: boolean): Promise<Outcome> {
    const complete = <Result extends object>(result: Result) =>
      isStateless ? { resultType: 'complete', ...result } : result;
    switch (message.method) {
      case 'server/discover':
        if (!isStateless) return unknownMethod(message);
        return {
          result: complete({
            supportedVersions: VERSIONS,
            capabilities: { tools: {} },
            ...{ ttlMs: LIST_TTL_MS, cacheScope: 'private' },
            _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
          }),
        };
      case 'initialize': {
        if (isStateless) return unknownMethod(message);
        const wanted = message.params.protocolVersion;
        const protocolVersion = WITH_INITIALIZE.find((one) => one === wanted) ?? WITH_INITIALIZE[0];
        return { result: { protocolVersion, capabilities: { tools: {} }, serverInfo } };
      }
      case 'ping':
        return isStateless ? unknownMethod(message) : { result: {} };
      case 'tools/list': {
        const cached = isStateless ? { ttlMs: LIST_TTL_MS, cacheScope: 'private' } : {};
        return { result: complete({ tools: TOOLS as readonly Tool[], ...cached }) };
      }
      case 'tools/call':
        return await callTool(request, message, isStateless, complete);
      default:
        return unknownMethod(message);
    }
  }

  async function callTool(
    request: FastifyRequest,
    { params }: Message,
    isStateless: boolean,
    complete: (result: object) => object,
  ): Promise<Outcome> {
    const name = TOOLS.find((tool) => tool.name === params.name)?.name;
    if (name === undefined) return { code: FAULTS.params, message: 'unknown tool' };
    const given = params.arguments ?? {};
    const validate = validators.get(name);
    if (!isObject(given) || !validate?.(given)) {
      const [fault] = validate?.errors ?? [];
      const where = fault?.instancePath.slice(1) || String(fault?.params.additionalProperty ?? '');
      return { code: FAULTS.params, message: `wrong arguments: ${where} ${fault?.message ?? ''}`.trim() };
    }
    requireScope(request, name);
    const caller = callerFor(request);
    if (name !== 'request_access')
      return { result: complete(resultOf(await calls.call(caller, name, given).catch(rejected))) };
    return await requestAccess(request, caller, given, isStateless, complete);
  }

  async function requestAccess(
    request: FastifyRequest,
    caller: ToolCaller,
    given: Readonly<Record<string, unknown>>,
    isStateless: boolean,
    complete: (result: object) => object,
  ): Promise<Outcome> {
    const organization = await organizationNamed(String(given.org));
    const { person, tokenId } = callerOf(request);
    const isIn = organization && (person.isAdmin || person.organizations.has(organization.id));
    if (!isIn) {
      const outside = new AppError('forbidden', 'Must be an organization member');
      return { result: complete(resultOf(rejectionOf(outside, STATUS.forbidden))) };
    }
    const asker = { ...caller, organization, actor: throughMcp(actorOf(request)), tokenId };
    const outcome = await access.ask(asker, caller, given).catch(rejected);
    if ('isError' in outcome) return { result: complete(resultOf(outcome)) };
    if ('request' in outcome) {
      const { until, ...rest } = outcome.request;
      const content = { ...rest, until: until?.toISOString() ?? null };
      return { result: complete(resultOf({ isError: false, content })) };
    }
    const message = 'No other person would approve this, so confirm it in the browser.';
    const url = outcome.confirmAt;
    if (!isStateless) {
      return {
        result: resultOf({ isError: true, content: { status: 403, reason: 'confirmation_required', message, url } }),
      };
    }
    const ask = { method: 'elicitation/create', params: { mode: 'url', url, message } };
    return { result: { resultType: 'input_required', inputRequests: { confirm: ask }, requestState: '' } };
  }

  /** The caller, and the API of this server with their credential. */
  function callerFor(request: FastifyRequest): ToolCaller {
    const { person, limits } = callerOf(request);
    const { authorization = '' } = request.headers;
    const send = async ({ method, path, query, body }: ApiRequest): Promise<ApiAnswer> => {
      const parameters = Object.entries(query).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as const],
      );
      const answer = await request.server.inject({
        method,
        url: `/api/v1${path}?${new URLSearchParams(Object.fromEntries(parameters))}`,
        headers: {
          ...{ authorization, host: request.host, 'x-request-id': request.id },
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { payload: writeJson(body) }),
        remoteAddress: request.ip,
      });
      const total = answer.headers['x-total-count'];
      return {
        status: answer.statusCode,
        body: answer.rawPayload.length === 0 ? undefined : await readJsonInSteps(answer.rawPayload),
        total: total === undefined ? undefined : Number(total),
      };
    };
    return { id: person.id, login: person.login, limits, send };
  }

  function requireScope(request: FastifyRequest, name: ToolName): void {
    const needed = SCOPE_OF[name];
    if (scopesAllow(callerOf(request).scopes, needed)) return;
    const metadata = `${baseUrl()}${RESOURCE_METADATA}${MCP_PATH}`;
    throw new AppError('forbidden', `the token needs the scope ${needed}`, {
      reason: 'insufficient_scope',
      challenge: `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${metadata}"`,
    });
  }

  /** A page of another site must not use the token of its reader. */
  async function rejectForeignOrigin(request: FastifyRequest): Promise<void> {
    const { origin } = request.headers;
    if (origin === undefined || origin === new URL(baseUrl()).origin) return;
    throw new AppError('forbidden', 'pages of other origins cannot call this', { reason: 'forbidden' });
  }
}

/** RFC 9728: which tokens the endpoint takes. */
export function mcpMetadataRoutes(scope: Scope, baseUrl: () => string): void {
  for (const path of [RESOURCE_METADATA, `${RESOURCE_METADATA}${MCP_PATH}`]) {
    scope.get(path, { config: { access: anyone }, schema: { hide: true } }, async () => ({
      resource: `${baseUrl()}${MCP_PATH}`,
      authorization_servers: [],
      scopes_supported: [...new Set(Object.values(SCOPE_OF))],
      bearer_methods_supported: ['header'],
      resource_name: 'Atrium',
    }));
  }
}

function unknownMethod({ method }: Message): Outcome {
  return { code: FAULTS.method, message: `unknown method: ${JSON.stringify(method.slice(0, 60))}` };
}

/** What the rules reject is an answer of the tool. */
function rejected(error: unknown): ToolAnswer {
  if (!(error instanceof AppError) || error.kind === 'internal') throw error;
  return rejectionOf(error, STATUS[error.kind]);
}

/**
 * Names and texts of other users are inside JSON strings only, also in the text, where no character of theirs can begin
 * a line or change how the rest looks.
 */
function resultOf({ isError, content }: ToolAnswer): object {
  const text = writeJson(content).replace(
    ODD,
    (odd) => `\\u${(odd.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  );
  return { content: [{ type: 'text', text }], structuredContent: content, isError };
}

function answer(reply: FastifyReply, id: string | number | null, error?: object, result?: object): FastifyReply {
  return sendText(reply, writeJson({ jsonrpc: '2.0', id, ...(error ? { error } : { result }) }));
}
