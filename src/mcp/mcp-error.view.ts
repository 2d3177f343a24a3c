import { reasonOf } from '../base/errors.ts';
import { type ErrorFormat, STATUS } from '../http/error-format.ts';

export const MCP_PATH = '/mcp';
export const RESOURCE_METADATA = '/.well-known/oauth-protected-resource';

/** What JSON-RPC and the Model Context Protocol call what is wrong with a message. */
export const FAULTS = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  headers: -32020,
  version: -32022,
} as const;

/** Errors that come before a message is read: without an ID. The challenge says where to learn about tokens. */
export function mcpFormat(baseUrl: () => string): ErrorFormat {
  return {
    statuses: { ...STATUS, malformed: 400 },
    get challenge() {
      return `Bearer resource_metadata="${baseUrl()}${RESOURCE_METADATA}${MCP_PATH}"`;
    },
    body: (error) => {
      const code =
        error.kind === 'malformed' ? FAULTS.parse : error.kind === 'internal' ? FAULTS.internal : FAULTS.request;
      return { jsonrpc: '2.0', id: null, error: { code, message: error.message, data: { reason: reasonOf(error) } } };
    },
  };
}
