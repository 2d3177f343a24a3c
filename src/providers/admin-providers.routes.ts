import type { FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { actorOf, siteAdmin } from '../http/admission/access.ts';
import type { Scope } from '../http/server.ts';
import { createOnce } from '../http/wire/create-once.ts';
import { showEtag, unchanged } from '../http/wire/etag.ts';
import { Int64, NoBody, named } from '../http/wire/schemas.ts';
import type { ProviderStates } from './checks/provider-state.ts';
import { type ProviderTester, TEST_RESULTS, TEST_STEPS } from './checks/provider-test.ts';
import type { PreviewGroups } from './groups/group-preview.ts';
import type { GroupSyncStore } from './groups/group-sync.ts';
import type { Provider, ProviderInput } from './provider.ts';
import {
  EditProviderBody,
  NewProviderBody,
  type ProviderAddresses,
  ProviderInfo,
  presentProvider,
} from './provider.view.ts';
import type { Providers } from './providers.ts';

const Path = Type.Object({ provider: Type.String() });
const PreviewBody = named(
  'GroupPreviewRequest',
  Type.Object({
    groups: Type.Array(Type.String({ maxLength: 500 }), {
      maxItems: 1000,
      description: 'Groups, as the claim would list them.',
    }),
    username: Type.String({ maxLength: 100, description: 'The user who would sign in with these groups.' }),
  }),
);
const PreviewInfo = named(
  'GroupPreview',
  Type.Object({
    organizations: Type.Array(
      named(
        'GroupPreviewOrganization',
        Type.Object({
          organization: Type.String({ description: 'Name of the organization.' }),
          changes: Type.Array(
            named(
              'GroupPreviewChange',
              Type.Object({
                action: Type.Enum(['team.add_member', 'team.remove_member'], { description: 'What would be done.' }),
                id: Int64,
                username: Type.String({ description: 'Login name of the user.' }),
              }),
            ),
            { description: 'What a sign-in would change. POST /authz/preview takes this list and shows its impact.' },
          ),
        }),
      ),
      { description: 'By organization.' },
    ),
    missing: Type.Array(Type.String(), {
      description: 'Teams that mappings of these groups name, and that do not exist.',
    }),
    ignored: Type.Array(Type.String(), { description: 'Groups without a mapping.' }),
  }),
);

const TestInfo = named(
  'ProviderTest',
  Type.Object({
    ok: Type.Boolean({ description: 'Whether everything that could be tried is as it should be.' }),
    steps: Type.Array(
      named(
        'ProviderTestStep',
        Type.Object({
          step: Type.Enum([...TEST_STEPS], { description: 'What was tried.' }),
          result: Type.Enum([...TEST_RESULTS], { description: 'unknown: the provider does not say.' }),
          message: Type.String({ description: 'What came of it, in words of the provider if it has any.' }),
        }),
      ),
      { description: 'In the order in which they were tried. What depends on a step that failed is not tried.' },
    ),
  }),
);

interface AdminProvidersRoutesOptions {
  readonly providers: Providers;
  readonly states: Pick<ProviderStates, 'of'>;
  readonly test: ProviderTester['test'];
  readonly preview: PreviewGroups;
  /** What the names of mappings mean now. */
  readonly resolve: GroupSyncStore['resolve'];
  readonly addresses: ProviderAddresses;
}

export function adminProviderRoutes(
  scope: Scope,
  { providers, states, test, preview, resolve, addresses }: AdminProvidersRoutesOptions,
): void {
  const config = { access: siteAdmin('admin') };
  // A provider is a way to sign in as other users, and a stolen token must not become one.
  const change = { access: siteAdmin('admin', { proven: 'in person' }) };
  const common = { tags: ['providers'], extension: true };

  scope.get(
    '/admin/providers',
    {
      config,
      schema: { ...common, summary: 'List the OpenID Connect providers', response: { 200: Type.Array(ProviderInfo) } },
    },
    async () => {
      const stateOf = await states.of();
      return await Promise.all((await providers.list()).map((provider) => shown(provider, stateOf)));
    },
  );

  scope.post(
    '/admin/providers',
    {
      config: { ...change, creates: true },
      schema: {
        ...common,
        summary: 'Add an OpenID Connect provider',
        body: NewProviderBody,
        etag: true,
        response: { 201: ProviderInfo },
      },
    },
    async (request, reply) => {
      const { name, issuer, client_id: clientId } = request.body;
      const input = { ...inputOf(request.body), name, issuer, clientId };
      const [found, stateOf] = await Promise.all([resolve(input.groupMappings ?? []), states.of()]);
      return await createOnce(
        request,
        reply.code(201),
        (once) => providers.create(input, actorOf(request), once),
        (provider: Provider) => {
          showEtag(reply, provider);
          return presentProvider(provider, found, stateOf(provider.name), addresses);
        },
      );
    },
  );

  scope.get(
    '/admin/providers/:provider',
    {
      config,
      schema: {
        ...common,
        summary: 'Get an OpenID Connect provider',
        params: Path,
        etag: true,
        response: { 200: ProviderInfo },
      },
    },
    async (request, reply) => await show(reply, await providers.get(request.params.provider)),
  );

  scope.patch(
    '/admin/providers/:provider',
    {
      config: change,
      schema: {
        ...common,
        summary: 'Change an OpenID Connect provider; omitted fields stay unchanged',
        params: Path,
        body: EditProviderBody,
        etag: true,
        ifMatch: true,
        errors: [409],
        response: { 200: ProviderInfo },
      },
    },
    async (request, reply) => {
      const { issuer, client_id: clientId } = request.body;
      const input = { ...inputOf(request.body), issuer: issuer ?? undefined, clientId: clientId ?? undefined };
      const { provider } = request.params;
      return await show(reply, await providers.update(provider, input, unchanged(request), actorOf(request)));
    },
  );

  scope.delete(
    '/admin/providers/:provider',
    {
      config: change,
      schema: {
        ...common,
        summary: 'Remove an OpenID Connect provider; linked accounts stay',
        params: Path,
        ifMatch: true,
        errors: [409],
        response: { 204: NoBody },
      },
    },
    async (request, reply) => {
      await providers.remove(request.params.provider, unchanged(request), actorOf(request));
      return reply.code(204).send();
    },
  );

  scope.post(
    '/admin/providers/:provider/preview',
    {
      config: { access: siteAdmin('admin', { level: 'read' }) },
      schema: {
        ...common,
        summary: 'Preview which memberships a sign-in with some groups would change',
        params: Path,
        body: PreviewBody,
        response: { 200: PreviewInfo },
      },
    },
    async (request) => {
      const { groups, username } = request.body;
      const { organizations, missing, ignored } = await preview(request.params.provider, groups, username);
      return {
        organizations: organizations.map(({ organization, changes }) => ({ organization, changes: [...changes] })),
        missing: [...missing],
        ignored: [...ignored],
      };
    },
  );

  scope.post(
    '/admin/providers/:provider/test',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        ...common,
        summary: 'Test a provider: its metadata, its keys, and whether it accepts the client and its secret',
        params: Path,
        response: { 200: TestInfo },
      },
    },
    async (request) => {
      const steps = await test(await providers.whole(request.params.provider));
      return { ok: steps.every(({ result }) => result === 'ok'), steps: steps.map((step) => ({ ...step })) };
    },
  );

  async function show(reply: FastifyReply, provider: Provider) {
    showEtag(reply, provider);
    return await shown(provider, await states.of());
  }

  async function shown(provider: Provider, stateOf: Awaited<ReturnType<ProviderStates['of']>>) {
    return presentProvider(provider, await resolve(provider.groupMappings), stateOf(provider.name), addresses);
  }
}

/** Null counts as left out, except for the secret and for how long sessions last. */
function inputOf(body: Omit<Static<typeof NewProviderBody>, 'name' | 'issuer' | 'client_id'>): ProviderInput {
  return {
    displayName: body.display_name ?? undefined,
    scopes: body.scopes ?? undefined,
    allowedDomains: body.allowed_domains ?? undefined,
    createAccounts: body.create_accounts ?? undefined,
    linking: body.linking,
    trustEmail: body.trust_email ?? undefined,
    trustSecondFactor: body.trust_second_factor ?? undefined,
    groupClaim: body.group_claim ?? undefined,
    groupMappings: body.group_mappings ?? undefined,
    enabled: body.enabled ?? undefined,
    sessionHours: body.session_hours,
    sessionIdleMinutes: body.session_idle_minutes,
    recheckMinutes: body.recheck_minutes,
    allowRemember: body.allow_remember ?? undefined,
    clientSecret: body.client_secret,
  };
}
