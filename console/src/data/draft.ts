import { useEffect, useRef } from 'preact/hooks';

const QUESTION = 'Leave without saving? What you changed here will be lost.';

let drafts = 0;

/** Asks before the page is left, if something on it was changed and not saved. */
export function mayLeave(): boolean {
  return drafts === 0 || confirm(QUESTION);
}

/** While the form has changes that are not saved, a link, the search and closing the tab ask first. */
export function useDraft(isChanged: boolean): void {
  const isLeaving = useRef(false);
  useEffect(() => {
    if (!isChanged) return;
    isLeaving.current = false;
    drafts += 1;
    const onUnload = (event: BeforeUnloadEvent) => !isLeaving.current && event.preventDefault();
    const onClick = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a') : null;
      if (link?.target !== '' || link.origin !== location.origin || link.pathname === location.pathname) return;
      if (event.ctrlKey || event.metaKey) return;
      if (mayLeave()) isLeaving.current = true;
      else {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    };
    addEventListener('beforeunload', onUnload);
    addEventListener('click', onClick, true);
    return () => {
      drafts -= 1;
      removeEventListener('beforeunload', onUnload);
      removeEventListener('click', onClick, true);
    };
  }, [isChanged]);
}
