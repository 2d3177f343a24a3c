import { PLATFORM, type Write } from '../changes/write.ts';
import type { SignInRejectionStore } from './sign-in-rejections.ts';

export function createSignInRejectionStore(write: Write): SignInRejectionStore {
  return {
    async record(after, actor) {
      await write(async (_query, _touch, record) => {
        const about = { organizationId: PLATFORM, objectType: 'platform', objectId: PLATFORM };
        record({ actor, ...about, action: 'sign_in.refuse', after });
      });
    },
  };
}
