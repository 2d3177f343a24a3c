import type { FastifyRequest } from 'fastify';
import { AppError } from '../base/errors.ts';
import { readJsonInSteps } from '../base/json.ts';
import type { Actor } from '../changes/audit-entry.ts';
import type { Work, Write } from '../changes/write.ts';
import type { Scope } from '../http/server.ts';
import { createSessionStore } from '../identity/sessions/sessions.store.ts';
import { createTokenIssuerStore } from '../identity/tokens/token-issuer.store.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createMemberStore } from '../organizations/members.store.ts';
import { createMembers } from '../organizations/members.ts';
import { createTeamStore } from '../organizations/teams.store.ts';
import { createTeams } from '../organizations/teams.ts';
import { createTokenStore } from '../tokens/tokens.store.ts';
import { createDomainRule } from '../users/emails/email-domains.ts';
import { createUserStore } from '../users/users.store.ts';
import { createUsers } from '../users/users.ts';
import type { Provisioning } from './provisioning.ts';
import { scimDiscoveryRoutes } from './scim-discovery.routes.ts';
import { SCIM_MEDIA_TYPE, SCIM_PREFIX } from './scim-error.view.ts';
import { scimGroupRoutes } from './scim-groups.routes.ts';
import { createScimGroupChanges, createScimGroupStore } from './scim-groups.store.ts';
import { createScimGroups } from './scim-groups.ts';
import { tenantOf } from './scim-messages.view.ts';
import { createScimNameStore } from './scim-names.store.ts';
import { createScimNames } from './scim-names.ts';
import { createScimUserChanges } from './scim-user-changes.store.ts';
import { scimUserRoutes } from './scim-users.routes.ts';
import { createScimUserStore } from './scim-users.store.ts';
import { createScimUsers, type OwnsAddress } from './scim-users.ts';

/** A provider acts for the organization itself, so it may do whatever can be done there. Only owners give it a token. */
const JUDGE = { holds: async () => true };
const ESCALATION = async () => ({ isOwner: true, rejectEscalation: () => undefined });

export function wireScim({ config, db, revisions, quotas, baseUrl }: Infrastructure) {
  const prefix = () => `${baseUrl()}${SCIM_PREFIX}`;
  const userStore = createScimUserStore(db.query, db.capabilities.hasOneConnection);
  const users = createScimUsers(userStore, inTransaction, domainsOf(config.SCIM_DOMAINS));
  const groups = createScimGroups(createScimGroupStore(db.query), inTransaction);
  const names = createScimNames(config.SCIM_DOMAINS, createScimNameStore(db));
  return { mount };

  function mount(scope: Scope): void {
    scope.addContentTypeParser(SCIM_MEDIA_TYPE, { parseAs: 'buffer' }, readBody);
    scope.addHook('preHandler', async (request) => {
      if (request.caller) await names.require(tenantOf(request));
    });
    scimDiscoveryRoutes(scope, prefix);
    scimUserRoutes(scope, users, prefix);
    scimGroupRoutes(scope, groups, prefix);
  }

  function inTransaction<T>(work: (inside: Provisioning) => Promise<T>): Promise<T> {
    return revisions.write((...parts) => work(inside(...parts)));
  }

  /** The rules of all nouns that are concerned, on stores that write into this one transaction. */
  function inside(...[query, touch, record]: Parameters<Work<unknown>>): Provisioning {
    const write: Write = (work) => work(query, touch, record, () => undefined);
    const here = { ...db, query };
    const userStore = createUserStore(here, write);
    const members = createMembers({
      store: createMemberStore(here, write, quotas),
      judge: JUDGE,
      escalation: ESCALATION,
      personNamed: async (name) => (await userStore.person(name))?.person,
    });
    const sessions = createSessionStore(here, write, quotas);
    const [tokenStore, tokens] = [createTokenStore(here), createTokenIssuerStore(write, quotas)];
    return {
      people: createScimUserChanges({ query, touch, record }),
      groups: createScimGroupChanges({ query, touch, record }),
      users: createUsers(userStore),
      members,
      teams: createTeams(createTeamStore(here, write, quotas), ESCALATION),
      async endCredentials(accountId: bigint, actor: Actor) {
        await sessions.endOthers(accountId, undefined, new Date(), actor);
        for (const { id } of await tokenStore.list(accountId)) await tokens.remove(id, actor);
      },
    };
  }
}

/** Which addresses are in a domain that the operator has assigned to an organization. */
function domainsOf(pairs: readonly { readonly organization: string; readonly domain: string }[]): OwnsAddress {
  const byName = Map.groupBy(pairs, ({ organization }) => organization);
  const rules = new Map(
    [...byName].map(([name, own]) => [
      name,
      createDomainRule(
        own.map(({ domain }) => domain),
        [],
      ),
    ]),
  );
  return ({ name }, address) => rules.get(name.toLowerCase())?.(address) ?? false;
}

async function readBody(request: FastifyRequest, body: Buffer): Promise<unknown> {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new AppError('malformed', `content encoding is not supported: ${encoding.slice(0, 40)}`);
  }
  return await readJsonInSteps(body);
}
