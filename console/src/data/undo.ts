import { messageOf } from '../parts/fault.tsx';
import { notify } from '../parts/toast.tsx';
import { refresh } from './resource.ts';

/** Long enough to notice a mistake. */
const SECONDS = 10;

/** Says that access was changed, and takes the change back if the user wants that within ten seconds. */
export function notifyUndoable(text: string, inverse: () => Promise<unknown>): void {
  notify({
    kind: 'ok',
    text,
    seconds: SECONDS,
    undo: async () => {
      try {
        await inverse();
        notify({ kind: 'ok', text: 'Undone.' });
      } catch (error) {
        notify({ kind: 'bad', text: `It could not be undone. ${messageOf(error)}` });
      }
      refresh();
    },
  });
}
