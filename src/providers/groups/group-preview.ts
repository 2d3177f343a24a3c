import type { Providers } from '../providers.ts';
import type { GroupSyncStore } from './group-sync.ts';
import { nameOf } from './group-sync.ts';

/** A change of a membership, as a preview of its impact takes it. */
export interface PreviewedChange {
  readonly action: 'team.add_member' | 'team.remove_member';
  readonly id: bigint;
  readonly username: string;
}

export interface GroupPreview {
  readonly organizations: readonly { readonly organization: string; readonly changes: readonly PreviewedChange[] }[];
  /** Teams that mappings of these groups name, and that do not exist. */
  readonly missing: readonly string[];
  /** Groups without a mapping. */
  readonly ignored: readonly string[];
}

interface GroupPreviewOptions {
  readonly providers: Pick<Providers, 'get'>;
  readonly store: Pick<GroupSyncStore, 'resolve' | 'managed'>;
  readonly users: { idOf(name: string): Promise<bigint> };
}

/** What a sign-in with some groups would change, as changes whose impact can be previewed before any user signs in. */
export function createGroupPreview({ providers, store, users }: GroupPreviewOptions) {
  return async function preview(name: string, groups: readonly string[], username: string): Promise<GroupPreview> {
    const provider = await providers.get(name);
    const accountId = await users.idOf(username);
    const held = new Set(groups);
    const found = await store.resolve(provider.groupMappings.filter(({ group }) => held.has(group)));
    const managed = await store.managed(name, accountId);
    const wanted = new Map(found.flatMap((one) => (one.teamId === undefined ? [] : [[one.teamId, one] as const])));
    const changes = [
      ...[...wanted.values()]
        .filter(({ teamId }) => !managed.some((one) => one.teamId === teamId))
        .map(({ teamId = 0n, organization }) => ({ organization, action: 'team.add_member' as const, id: teamId })),
      ...managed
        .filter(({ teamId }) => !wanted.has(teamId))
        .map(({ teamId, organization }) => ({ organization, action: 'team.remove_member' as const, id: teamId })),
    ];
    const mapped = new Set(provider.groupMappings.map(({ group }) => group));
    return {
      organizations: [...Map.groupBy(changes, ({ organization }) => organization.toLowerCase()).values()].map(
        (list) => ({
          organization: list[0]?.organization ?? '',
          changes: list.map(({ action, id }) => ({ action, id, username })),
        }),
      ),
      missing: found.filter(({ teamId }) => teamId === undefined).map(nameOf),
      ignored: groups.filter((group) => !mapped.has(group)),
    };
  };
}

export type PreviewGroups = ReturnType<typeof createGroupPreview>;
