import type { FastifyReply, FastifyRequest } from 'fastify';
import { provisioner } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import type { ScimUser } from './provisioning.ts';
import { USER_SCHEMA } from './scim-attributes.ts';
import { readDocument } from './scim-document.ts';
import {
  idIn,
  isKnown,
  LIST_SCHEMA,
  provisionerOf,
  type ReadSearch,
  readSearch,
  readSearchBody,
  readSelection,
  requireVersion,
  type Selection,
  selected,
  sendScim,
  tenantOf,
  wants,
} from './scim-messages.view.ts';
import { readOperations } from './scim-operations.ts';
import { patched } from './scim-patch.ts';
import { documentOf, presentUser, requestOf, userVersion } from './scim-user.view.ts';
import type { ScimUsers } from './scim-users.ts';

/** A user can be in a thousand teams, so fewer people are shown with theirs. */
const MAX_WITH_GROUPS = 20;

export function scimUserRoutes(scope: Scope, users: ScimUsers, baseUrl: () => string): void {
  const config = { access: provisioner() };
  const reading = { access: provisioner({ level: 'read' }) };
  const schema = { hide: true };

  scope.get('/Users', { config, schema }, async (request, reply) =>
    list(request, reply, readSearch(request.query as Record<string, unknown>)),
  );
  scope.post('/Users/.search', { config: reading, schema }, async (request, reply) =>
    list(request, reply, readSearchBody(request.body)),
  );
  scope.post('/Users', { config, schema }, async (request, reply) => {
    const draft = requestOf(readDocument(USER_SCHEMA, request.body));
    const user = await users.create(tenantOf(request), draft, provisionerOf(request));
    reply.code(201).header('Location', `${baseUrl()}/Users/${user.id}`);
    return await show(request, reply, user);
  });
  scope.get('/Users/:id', { config, schema }, async (request, reply) => {
    const user = await users.get(tenantOf(request), idIn(request));
    if (isKnown(request, userVersion(user))) return reply.code(304).header('ETag', userVersion(user)).send();
    return await show(request, reply, user);
  });
  scope.put('/Users/:id', { config, schema }, async (request, reply) => {
    const draft = requestOf(readDocument(USER_SCHEMA, request.body));
    return await change(request, reply, () => draft);
  });
  scope.patch('/Users/:id', { config, schema }, async (request, reply) => {
    const operations = readOperations(USER_SCHEMA, request.body);
    const isAboutUse = operations.some(({ attribute }) => attribute.name === 'active');
    return await change(request, reply, (current) => {
      const { active, ...draft } = requestOf(patched(documentOf(current), operations));
      return { ...draft, active: isAboutUse ? active : undefined };
    });
  });
  scope.delete('/Users/:id', { config, schema }, async (request, reply) => {
    await users.remove(tenantOf(request), idIn(request), unchanged(request), provisionerOf(request));
    return reply.code(204).send();
  });

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    decide: (current: ScimUser) => ReturnType<typeof requestOf>,
  ): Promise<FastifyReply> {
    const about = [tenantOf(request), idIn(request)] as const;
    const user = await users.update(...about, decide, unchanged(request), provisionerOf(request));
    return await show(request, reply, user);
  }

  async function show(request: FastifyRequest, reply: FastifyReply, user: ScimUser): Promise<FastifyReply> {
    const selection = readSelection(request.query as Record<string, unknown>);
    const [resource] = await present(request, [user], selection);
    return sendScim(reply.header('ETag', userVersion(user)), resource);
  }

  async function list(request: FastifyRequest, reply: FastifyReply, { search, selection }: ReadSearch) {
    const limit = hasGroups(selection) ? Math.min(search.limit, MAX_WITH_GROUPS) : search.limit;
    const { items, total } = await users.list(tenantOf(request).id, { ...search, limit });
    const place = { totalResults: total, itemsPerPage: items.length, startIndex: search.offset + 1 };
    return sendScim(reply, {
      schemas: [LIST_SCHEMA],
      ...place,
      Resources: await present(request, items, selection),
    });
  }

  async function present(request: FastifyRequest, items: readonly ScimUser[], selection: Selection) {
    const ids = items.map(({ id }) => id);
    const groups = hasGroups(selection) ? await users.groups(tenantOf(request).id, ids) : undefined;
    return items.map((user) => selected(USER_SCHEMA, presentUser(user, baseUrl(), groups?.get(user.id)), selection));
  }
}

function hasGroups(selection: Selection): boolean {
  return selection.only !== undefined && wants(selection, 'groups');
}

function unchanged(request: FastifyRequest): (current: ScimUser) => void {
  return (current) => requireVersion(request, userVersion(current));
}
