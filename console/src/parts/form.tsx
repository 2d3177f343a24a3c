import type { ComponentChildren } from 'preact';
import type { Action } from '../data/action.ts';
import type { WhyNotQuestion } from '../data/org.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Fault } from './fault.tsx';

export interface FormProps {
  readonly action: Action<[]>;
  /** A verb, such as "Save". */
  readonly verb: string;
  readonly children: ComponentChildren;
  /** The fields that show their own errors. */
  readonly fields?: readonly string[] | undefined;
  readonly onDone?: (() => void) | undefined;
  readonly onCancel?: (() => void) | undefined;
  readonly whyNot?: WhyNotQuestion | undefined;
  readonly disabledBecause?: string | undefined;
}

/** Fields, what went wrong, and the button. Control or Command with Enter saves from any field. */
export function Form({ action, verb, children, fields = [], onDone, onCancel, whyNot, disabledBecause }: FormProps) {
  const isShownElsewhere = fields.some((field) => action.fieldError(field) !== undefined);
  async function submit(): Promise<void> {
    if (whyNot === undefined && disabledBecause === undefined && (await action.run())) onDone?.();
  }
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) event.currentTarget.requestSubmit();
      }}
    >
      {whyNot && (
        <p class="quiet" role="note">
          You cannot {whyNot.task}, so these fields are read-only.
        </p>
      )}
      <fieldset class="form-fields" disabled={whyNot !== undefined}>
        {children}
      </fieldset>
      <Fault error={isShownElsewhere ? undefined : action.error} />
      <div class="line">
        <Button kind="main" type="submit" isBusy={action.isRunning} whyNot={whyNot} disabledBecause={disabledBecause}>
          {verb}
        </Button>
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
      </div>
    </form>
  );
}

/** A form that covers the page and closes when it has succeeded. */
export function FormDialog({ title, onClose, onDone, ...form }: FormProps & { title: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        {...form}
        onCancel={onClose}
        onDone={() => {
          onClose();
          onDone?.();
        }}
      />
    </Dialog>
  );
}
