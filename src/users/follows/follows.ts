import { AppError } from '../../base/errors.ts';
import type { Page, PageRequest } from '../../base/page.ts';
import type { Profile } from '../profile.ts';

export interface FollowStore {
  followers(id: bigint, request: PageRequest): Promise<Page<Profile>>;
  following(id: bigint, request: PageRequest): Promise<Page<Profile>>;
  idOf(name: string): Promise<bigint | undefined>;
  isFollowing(followerId: bigint, followedId: bigint): Promise<boolean>;
  /** Returns false if one of the two no longer exists. */
  add(followerId: bigint, followedId: bigint): Promise<boolean>;
  remove(followerId: bigint, followedId: bigint): Promise<void>;
}

export type Follows = ReturnType<typeof createFollows>;

/** Who follows whom. Following twice is the same as following once, and users cannot follow themselves. */
export function createFollows(store: FollowStore) {
  return { followers: store.followers, following: store.following, idOf: known, check, follow, unfollow };

  async function check(followerId: bigint, name: string): Promise<void> {
    const followedId = await store.idOf(name);
    if (followedId === undefined || !(await store.isFollowing(followerId, followedId))) {
      throw new AppError('notFound', 'not found');
    }
  }

  async function follow(followerId: bigint, name: string): Promise<void> {
    const followedId = await known(name);
    if (followedId !== followerId && !(await store.add(followerId, followedId))) throw unknown(name);
  }

  async function unfollow(followerId: bigint, name: string): Promise<void> {
    await store.remove(followerId, await known(name));
  }

  async function known(name: string): Promise<bigint> {
    const id = await store.idOf(name);
    if (id === undefined) throw unknown(name);
    return id;
  }
}

function unknown(name: string): AppError {
  return new AppError('notFound', `user does not exist: ${name.slice(0, 60)}`, { reason: 'user_not_found' });
}
