import type { RefObject } from 'preact';
import { useLayoutEffect } from 'preact/hooks';

/** Opens the dialog over the page. When it goes, the focus goes back to where it was. */
export function useModal(ref: RefObject<HTMLDialogElement | null>): void {
  useLayoutEffect(() => {
    const before = document.activeElement;
    const dialog = ref.current;
    if (dialog && !dialog.open) dialog.showModal();
    const stop = dialog ? focusFirstField(dialog) : undefined;
    return () => {
      stop?.();
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
}

const FIELD = 'input:not([type="hidden"]), select, textarea';

/** The first field, as soon as there is one: some dialogs load what they show. A dialog without fields keeps its own. */
function focusFirstField(dialog: HTMLDialogElement): (() => void) | undefined {
  const take = () => {
    const field = dialog.querySelector<HTMLElement>(FIELD);
    // The button that closes the dialog is the first that the browser finds.
    if (field && !dialog.querySelector(':is(input, select, textarea):focus')) field.focus();
    return field !== null;
  };
  if (take()) return undefined;
  const observer = new MutationObserver(() => take() && observer.disconnect());
  observer.observe(dialog, { childList: true, subtree: true });
  return () => observer.disconnect();
}
