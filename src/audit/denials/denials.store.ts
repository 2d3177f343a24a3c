import type { Write } from '../../changes/write.ts';
import type { DenialStore } from './denials.ts';

export function createDenialStore(write: Write): DenialStore {
  return {
    // Nothing is touched, so there is no new revision.
    append: (entries) =>
      write(async (_query, _touch, record) => {
        for (const entry of entries) record(entry);
      }),
  };
}
