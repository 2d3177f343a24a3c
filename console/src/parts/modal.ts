import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Opens the dialog over the page. When it goes, the focus goes back to where it was. */
export function useModal(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}
