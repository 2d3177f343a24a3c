import type { Entry } from '../../../bench/requests/entry.ts';
import type { Answer, Call, TestServer } from '../../support/server/server.ts';

/** What an example needs to know of the demo world, and of the examples before it. */
export interface Known {
  readonly id: Readonly<Record<'prod' | 'contract' | 'robot' | 'operators' | 'viewers' | 'role' | 'org', number>>;
  readonly uid: string;
  readonly secrets: { readonly cloudB: string; readonly cloudC: string };
  readonly installers: { readonly cloudA: string; readonly cloudB: string; readonly cloudC: string };
  readonly claim: string;
  readonly confirmationKey: string;
  /** What browsers call the server. */
  readonly origin: string;
  /** What earlier requests created. */
  readonly created: Record<string, string | number>;
}

type Values = Readonly<Record<string, string | number | boolean | readonly string[]>>;

export interface ExampleRequest {
  /** The user whose token the request carries, or whose password. By default, it carries no credential. */
  readonly as?: string;
  readonly withPassword?: true;
  /** A token to send instead. */
  readonly token?: string | number | undefined;
  /** In the browser of the story, which keeps its cookies. */
  readonly inBrowser?: true;
  /** What else this browser does first. */
  readonly before?: (browser: Call, atrium: TestServer) => Promise<unknown>;
  readonly path?: Values;
  readonly query?: Values;
  readonly body?: unknown;
  readonly note?: (answer: Pick<Answer, 'body'>, created: Record<string, string | number>) => void;
}

export type MakeExample = (known: Known) => ExampleRequest;

/** What a test server cannot answer, and why. Such an example is written by hand, and only checked against its schemas. */
export interface WrittenExample {
  readonly because: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body?: object;
  /** By default, 200. */
  readonly status?: number;
  /** An object, or the name of the operation that has the same response. Absent if it is empty. */
  readonly response?: object | string;
}

interface AnyRoute {
  /** A body of the right shape that changes nothing, if the route takes one. */
  readonly body?: unknown;
  /** The query parameters that it requires, besides `org`. */
  readonly query?: string;
  /** Its most expensive requests, which `npm run bench -- requests` measures, or a route that costs as much. */
  readonly cost: Entry | readonly Entry[];
}

/** Not part of the documented API: pages, other protocols, and what only browsers call. */
interface HiddenRoute extends AnyRoute {
  readonly isHidden: true;
}

interface DocumentedRoute extends AnyRoute {
  /** Its example in the OpenAPI document. Those of a file are sent to one server, from the top to the bottom. */
  readonly example: MakeExample | WrittenExample;
  /** Only such a deployment has the route. */
  readonly on?: 'hosted';
}

interface RouteOfTenants {
  /** Every place in which a request can name something, as tenant-slots.ts says. */
  readonly names: string;
}

interface Post {
  /** Why a client can send the request again: it has a key, or it creates nothing of its own. */
  readonly again: string;
}

/** The routes that honor an Idempotency-Key. */
export const HAS_KEY = 'has a key';

type RouteOf<Key extends string> =
  | HiddenRoute
  | (DocumentedRoute &
      (Key extends `${string} /api/v1/${string}` ? RouteOfTenants : unknown) &
      (Key extends `POST ${string}` ? Post : unknown));

/** A route as its readers see it. */
export interface Route extends AnyRoute, Partial<Post>, Partial<RouteOfTenants> {
  readonly isHidden?: true;
  readonly example?: MakeExample | WrittenExample;
  readonly on?: 'hosted';
}

export type Routes = Readonly<Record<string, Route>>;

/** The routes of a noun, by method and path. What a route must say does not compile without it. */
export function routes<const Key extends string>(table: { readonly [Name in Key]: RouteOf<Name> }): Routes {
  return table;
}
