/** What a worker sends to the runner. A path contains the titles of the suites and of the test, from the outside in. */
export type WorkerMessage =
  | { readonly type: 'start'; readonly file: string; readonly path: readonly string[]; readonly cpu: number }
  | { readonly type: 'progress'; readonly text: string }
  /** All files have run. A process that ends without it has skipped some. */
  | { readonly type: 'done'; readonly cpu: number }
  | TestEnd;

export interface TestEnd {
  readonly type: 'end';
  readonly file: string;
  readonly line: number;
  readonly path: readonly string[];
  readonly ms: number;
  readonly isSkipped: boolean;
  readonly error?: string;
}
