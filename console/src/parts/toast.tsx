import { signal } from '@preact/signals';
import { Icon } from '../icons/icon.tsx';

interface Toast {
  readonly id: number;
  readonly kind: 'ok' | 'bad' | 'info';
  readonly text: string;
  /** The inverse of what was done, if there is one. */
  readonly undo?: (() => void) | undefined;
}

const SECONDS = 8;
let counter = 0;
const toasts = signal<readonly Toast[]>([]);

export function notify({ seconds = SECONDS, ...toast }: Omit<Toast, 'id'> & { seconds?: number }): void {
  counter += 1;
  const id = counter;
  toasts.value = [...toasts.value, { ...toast, id }];
  setTimeout(() => dismiss(id), seconds * 1000);
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}

/** Results of what the user did, read aloud politely; faults assertively. */
export function Toasts() {
  return (
    <section class="toasts" aria-label="Notifications">
      {toasts.value.map(({ id, kind, text, undo }) => (
        <div key={id} class={`toast ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
          <span class="grow">{text}</span>
          {undo && (
            <button
              type="button"
              class="button plain"
              onClick={() => {
                dismiss(id);
                undo();
              }}
            >
              Undo
            </button>
          )}
          <button type="button" class="icon-button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
    </section>
  );
}
