import type { FullWorld } from './fill.ts';

export interface Shot {
  /** Without a name, no credential is sent. */
  readonly as?: string;
  /** That of the route, unless it is another request that pays for what the route did. */
  readonly method?: string;
  readonly path: string;
  readonly body?: string | object;
  readonly type?: string;
  /** Usually 2xx. A request that is rejected late can cost as much as one that is accepted. */
  readonly status?: number;
}

/** The most expensive request of a route that is accepted, or is rejected only after it has cost something. */
export interface Measured {
  readonly what: string;
  /** May prepare something first, which is not measured. The round makes names unique. */
  shot(world: FullWorld, round: number): Shot | Promise<Shot>;
  /** The server remembers nothing, as after a start. */
  readonly isFirst?: true;
}

/** A route that does the same as another one, or less, and why that is so. */
export interface Alike {
  readonly as: string;
  readonly because: string;
}

export type Entry = Measured | Alike;
