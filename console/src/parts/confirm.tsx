import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useAction } from '../data/action.ts';
import { notifyUndoable } from '../data/undo.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Fault } from './fault.tsx';
import { TextField } from './field.tsx';
import { notify } from './toast.tsx';

export interface ConfirmProps {
  readonly title: string;
  /** What goes, and what cannot be undone. */
  readonly children: ComponentChildren;
  /** A verb, such as "Delete team". */
  readonly verb: string;
  /** To be typed first, for what cannot be undone. */
  readonly typedName?: string | undefined;
  readonly done: string;
  /** Takes the change back. It is offered for ten seconds. */
  readonly undo?: (() => Promise<unknown>) | undefined;
  readonly change: () => Promise<unknown>;
  /** What grants something is not dangerous in the way that deleting is. */
  readonly kind?: 'main' | 'danger' | undefined;
  readonly onClose: () => void;
  readonly onDone?: (() => void) | undefined;
}

export function Confirm({
  title,
  children,
  verb,
  typedName,
  done,
  undo,
  change,
  kind = 'danger',
  onClose,
  onDone,
}: ConfirmProps) {
  const typed = useSignal('');
  const action = useAction(change);
  const isRight = typedName === undefined || typed.value === typedName;
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        class="stack"
        onSubmit={async (event) => {
          event.preventDefault();
          if (!isRight || !(await action.run())) return;
          if (undo) notifyUndoable(done, undo);
          else notify({ kind: 'ok', text: done });
          onClose();
          onDone?.();
        }}
      >
        <div class="stack tight">{children}</div>
        {typedName !== undefined && (
          <TextField label={`Type ${typedName} to confirm`} value={typed} autoComplete="off" autoFocus />
        )}
        <Fault error={action.error} />
        <div class="line end">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind={kind}
            type="submit"
            isBusy={action.isRunning}
            disabledBecause={isRight ? undefined : 'Type the name first.'}
          >
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
