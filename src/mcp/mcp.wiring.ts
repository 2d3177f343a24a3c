import type { AskedThings } from '../authzen/asked-things.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import type { Asking } from '../requests/asking.ts';
import { createAccessTool } from './access-tool.ts';
import { mcpMetadataRoutes, mcpRoutes } from './mcp.routes.ts';
import { createToolCalls } from './tool-calls.ts';

/** The Model Context Protocol: what agents of users can ask, with the users' own rights. */
export function wireMcp(
  { baseUrl, version }: Pick<Infrastructure, 'baseUrl' | 'version'>,
  { callers }: Pick<Identity, 'callers'>,
  things: Pick<AskedThings, 'objectOf'>,
  asking: Asking,
) {
  const { organizationNamed } = callers;
  const calls = createToolCalls({ things, organizationNamed });
  const access = createAccessTool({ asking, calls, baseUrl });
  return {
    mount: (scope: Scope) => mcpRoutes(scope, { calls, access, organizationNamed, version, baseUrl }),
    mountRoot: (scope: Scope) => mcpMetadataRoutes(scope, baseUrl),
  };
}
