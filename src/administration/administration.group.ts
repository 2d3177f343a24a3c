import type { Directory } from '../directory/directory.group.ts';
import type { Ground } from '../ground.ts';
import type { Scope } from '../http/server.ts';

/** What the rules of this group ask the engine: whether a person holds a relation in an organization. */
export interface Judge {
  holds(
    personId: bigint,
    organizationId: bigint,
    relation: string,
    object: { readonly type: 'organization' | 'team'; readonly id: bigint },
  ): Promise<boolean>;
}

/** Group 4, put together: running the platform. */
export function createAdministration(_ground: Ground, _directory: Directory, _judge: Judge) {
  return { mount };

  function mount(_scope: Scope): void {}
}
