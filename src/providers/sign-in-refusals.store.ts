import { PLATFORM, type Write } from '../changes/write.ts';
import type { RefusalStore } from './sign-in-refusals.ts';

export function createRefusalStore(write: Write): RefusalStore {
  return {
    async record(after, actor) {
      await write(async (_query, _touch, record) => {
        const about = { organizationId: PLATFORM, objectType: 'platform', objectId: PLATFORM };
        record({ actor, ...about, action: 'sign_in.refuse', after });
      });
    },
  };
}
