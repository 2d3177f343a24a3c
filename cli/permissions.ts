import { nameOfAction } from '../client/permissions.ts';
import { misuse } from './failure.ts';
import type { Session } from './session.ts';
import { didYouMean } from './suggest.ts';

export interface Permission {
  readonly namespace: string;
  readonly action: string;
}

export function permissionName({ namespace, action }: Permission): string {
  return `${namespace}:${nameOfAction(action)}`;
}

/** What may be typed: its name, and the action that programs send. */
function wordsFor({ namespace, action }: Permission): readonly string[] {
  return [action, nameOfAction(action)].flatMap((word) => [word, `${namespace}:${word}`]);
}

/** Accepts `cluster_mgmt:view clusters`, or just the action if only one namespace has it. */
export async function readPermissions(session: Session, texts: readonly string[]): Promise<Permission[]> {
  if (texts.length === 0) return [];
  const query = { org: session.org() };
  const { permissions } = await session.client().call('GET /authz/roles/available_permissions', { query });
  return texts.map((text) => {
    const word = text.trim().toLowerCase();
    const found = permissions.filter((one) => wordsFor(one).includes(word));
    const [first, second] = found;
    if (first && !second) return { namespace: first.namespace, action: first.action };
    if (second)
      throw misuse(`${JSON.stringify(text)} is ambiguous; use one of ${found.map(permissionName).join(', ')}`);
    const names = permissions.flatMap((one) => [permissionName(one), nameOfAction(one.action)]);
    throw misuse(`unknown permission ${JSON.stringify(text)}${didYouMean(text, names)}; run atrium role permissions`);
  });
}
