import type { FastifyReply, FastifyRequest } from 'fastify';
import { provisioner } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import type { ScimGroup } from './provisioning.ts';
import { GROUP_SCHEMA } from './scim-attributes.ts';
import { readDocument } from './scim-document.ts';
import { groupChanges, groupRequest, groupVersion, writeGroup } from './scim-group.view.ts';
import type { ScimGroups, WholeGroup } from './scim-groups.ts';
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
  sendScimText,
  tenantOf,
  wants,
} from './scim-messages.view.ts';
import { readOperations } from './scim-operations.ts';

/** In one list. If the groups have more, fewer groups are shown; the client asks for the next ones by startIndex. */
const MAX_LISTED_MEMBERS = 10_000;

export function scimGroupRoutes(scope: Scope, groups: ScimGroups, baseUrl: () => string): void {
  const config = { access: provisioner() };
  const reading = { access: provisioner({ level: 'read' }) };
  const schema = { hide: true };

  scope.get('/Groups', { config, schema }, async (request, reply) =>
    list(request, reply, readSearch(request.query as Record<string, unknown>)),
  );
  scope.post('/Groups/.search', { config: reading, schema }, async (request, reply) =>
    list(request, reply, readSearchBody(request.body)),
  );
  scope.post('/Groups', { config, schema }, async (request, reply) => {
    const draft = groupRequest(readDocument(GROUP_SCHEMA, request.body));
    const group = await groups.create(tenantOf(request), draft, provisionerOf(request));
    reply.code(201).header('Location', `${baseUrl()}/Groups/${group.id}`);
    return await show(request, reply, group);
  });
  scope.get('/Groups/:id', { config, schema }, async (request, reply) => {
    const group = await groups.get(tenantOf(request), idIn(request));
    if (isKnown(request, groupVersion(group))) return reply.code(304).header('ETag', groupVersion(group)).send();
    return await show(request, reply, group);
  });
  scope.put('/Groups/:id', { config, schema }, async (request, reply) => {
    const draft = groupRequest(readDocument(GROUP_SCHEMA, request.body));
    return await show(request, reply, await change(request, draft));
  });
  // A provider that adds one member does not want to be told of ten thousand other members.
  scope.patch('/Groups/:id', { config, schema }, async (request, reply) => {
    const group = await change(request, groupChanges(readOperations(GROUP_SCHEMA, request.body)));
    const isAsked = readSelection(request.query as Record<string, unknown>).only !== undefined;
    return isAsked ? await show(request, reply, group) : reply.code(204).header('ETag', groupVersion(group)).send();
  });
  scope.delete('/Groups/:id', { config, schema }, async (request, reply) => {
    await groups.remove(tenantOf(request), idIn(request), unchanged(request), provisionerOf(request));
    return reply.code(204).send();
  });

  async function change(request: FastifyRequest, draft: ReturnType<typeof groupChanges>): Promise<WholeGroup> {
    const about = [tenantOf(request), idIn(request)] as const;
    return await groups.update(...about, draft, unchanged(request), provisionerOf(request));
  }

  async function show(request: FastifyRequest, reply: FastifyReply, group: WholeGroup): Promise<FastifyReply> {
    const selection = readSelection(request.query as Record<string, unknown>);
    return sendScimText(reply.header('ETag', groupVersion(group)), await writeGroup(group, baseUrl(), selection));
  }

  async function list(request: FastifyRequest, reply: FastifyReply, { search, selection }: ReadSearch) {
    const organization = tenantOf(request);
    const { items, total } = await groups.list(organization.id, search);
    const hasMembers = wants(selection, 'members');
    const texts: string[] = [];
    for (const group of hasMembers ? await firstOf(items) : items) {
      const whole = hasMembers ? await groups.whole(organization, group) : group;
      texts.push(await writeGroup(whole, baseUrl(), selection));
    }
    const place = { totalResults: total, itemsPerPage: texts.length, startIndex: search.offset + 1 };
    const head = JSON.stringify({ schemas: [LIST_SCHEMA], ...place });
    return sendScimText(reply, `${head.slice(0, -1)},"Resources":[${texts.join(',')}]}`);
  }

  /** As many as have room for their members in one answer, at least one. */
  async function firstOf(items: readonly ScimGroup[]): Promise<readonly ScimGroup[]> {
    const sizes = await groups.sizes(items.map(({ id }) => id));
    let members = 0;
    const tooMany = items.findIndex(({ id }) => {
      members += sizes.get(id) ?? 0;
      return members > MAX_LISTED_MEMBERS;
    });
    return tooMany < 0 ? items : items.slice(0, Math.max(1, tooMany));
  }
}

function unchanged(request: FastifyRequest): (current: WholeGroup) => void {
  return (current) => requireVersion(request, groupVersion(current));
}
