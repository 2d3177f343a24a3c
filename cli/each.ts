import { ApiError } from '../client/errors.ts';
import { rejected } from './failure.ts';
import type { Session } from './session.ts';

/** Makes one call per name. If one is rejected, the error also lists the names that went through before it. */
export async function forEach<T>(items: readonly T[], nameOf: (item: T) => string, act: (item: T) => Promise<unknown>) {
  const done: string[] = [];
  for (const item of items) {
    try {
      await act(item);
    } catch (error) {
      if (done.length === 0 || !(error instanceof ApiError)) throw error;
      throw rejected(`${nameOf(item)}: ${error.message} (already done: ${done.join(', ')})`);
    }
    done.push(nameOf(item));
  }
}

/** Before several users are changed, all of them must exist. */
export async function requireUsers(session: Session, names: readonly string[]): Promise<void> {
  if (names.length < 2) return;
  await Promise.all(
    names.map(async (username) => {
      try {
        await session.client().call('GET /users/{username}', { path: { username } });
      } catch (error) {
        if (error instanceof ApiError && error.status === 404)
          throw rejected(`there is no user named ${JSON.stringify(username)}; nothing was changed`);
        throw error;
      }
    }),
  );
}
