/** Everything that `@atrium/client` exports. */
export type * from './api.gen.ts';
export {
  type Answer,
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type Fetch,
  type Input,
  type Item,
  type OperationName,
  RawBody,
  type Reply,
} from './client.ts';
export { ApiError, type FieldError, UnreachableError } from './errors.ts';
export type { EventChange, EventOptions, ServerEvent } from './events.ts';
export { readJson, writeJson } from './json.ts';
