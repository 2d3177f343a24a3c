import { signal } from '@preact/signals';

/** True while the dialog covers the page in which the user proves again who they are. */
export const isProofNeeded = signal(false);
/** True if the user must add a second factor before anything else. */
export const isEnrollmentNeeded = signal(false);

let waiting: { resolve: (isProven: boolean) => void }[] = [];

/** Resolves to whether the user has proven who they are, so that the rejected request can be repeated. */
export function waitForProof(): Promise<boolean> {
  isProofNeeded.value = true;
  return new Promise((resolve) => waiting.push({ resolve }));
}

export function proven(isProven: boolean): void {
  isProofNeeded.value = false;
  const all = waiting;
  waiting = [];
  for (const { resolve } of all) resolve(isProven);
}

/** Why a request was rejected, for those reasons that the whole page reacts to. */
export async function reasonIn(response: Response): Promise<string> {
  try {
    return ((await response.clone().json()) as { reason?: string }).reason ?? '';
  } catch {
    return '';
  }
}
