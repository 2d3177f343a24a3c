import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { Icon } from '../icons/icon.tsx';
import { useModal } from './modal.ts';

export interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly onClose: () => void;
  readonly size?: 'normal' | 'wide' | undefined;
  /** The page cannot go on without it. */
  readonly isRequired?: boolean | undefined;
}

/** The browser traps the focus and closes it on Escape. */
export function Dialog({ title, children, onClose, size = 'normal', isRequired }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useModal(ref);
  return (
    <dialog
      ref={ref}
      class={`dialog ${size}`}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        if (!isRequired) onClose();
      }}
      onClick={(event) => {
        if (event.target === event.currentTarget && !isRequired) onClose();
      }}
    >
      <div class="dialog-body">
        <header class="line apart">
          <h2 id={titleId}>{title}</h2>
          {!isRequired && (
            <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          )}
        </header>
        {children}
      </div>
    </dialog>
  );
}
