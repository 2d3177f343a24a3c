import { useRef } from 'preact/hooks';
import { ApiError } from '../../../client/errors.ts';
import { refresh } from './resource.ts';

export interface Version {
  /** Calls with the version to save over. */
  readonly save: <Result>(send: (ifMatch: string | undefined) => Promise<Result>) => Promise<Result>;
}

/**
 * The version that a form began with. What other users save while the form is open is loaded into the page, but must
 * not make the form overwrite it unseen: the first attempt to save is rejected, and only the next one replaces their
 * change.
 */
export function useVersion(etag: string | undefined): Version {
  const began = useRef(etag);
  const isOver = useRef(false);
  if (isOver.current && etag !== began.current) {
    began.current = etag;
    isOver.current = false;
  }
  return {
    save: async (send) => {
      try {
        const result = await send(began.current);
        isOver.current = true;
        return result;
      } catch (error) {
        if (error instanceof ApiError && error.status === 412) {
          isOver.current = true;
          refresh();
        }
        throw error;
      }
    },
  };
}
