import { signal } from '@preact/signals';

/** One call of the page to the API, as the drawer shows it. */
export interface ApiCall {
  readonly id: number;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly body: string | undefined;
}

const MAX_CALLS = 100;
let counter = 0;

/** Newest first. */
export const calls = signal<readonly ApiCall[]>([]);

export function recordCall(call: Omit<ApiCall, 'id'>): void {
  counter += 1;
  calls.value = [{ ...call, id: counter }, ...calls.value].slice(0, MAX_CALLS);
}

/** Bodies with secrets never reach the drawer. */
export function harmlessBody(path: string, body: string | undefined): string | undefined {
  const isSecret = /\/(signin|password|credentials|tokens|secrets|providers|factors|reauthenticate)\b/.test(path);
  return isSecret ? undefined : body;
}
