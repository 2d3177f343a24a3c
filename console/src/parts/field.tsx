import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';

interface FieldProps {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The message of the server about this field. */
  readonly error?: string | undefined;
}

export interface TextFieldProps extends FieldProps {
  readonly value: Signal<string>;
  readonly type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'date' | 'datetime-local' | 'search' | undefined;
  readonly autoComplete?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isRequired?: boolean | undefined;
  readonly isReadOnly?: boolean | undefined;
  readonly rows?: number | undefined;
  readonly isMono?: boolean | undefined;
  readonly autoFocus?: boolean | undefined;
  readonly maxLength?: number | undefined;
  readonly onInput?: (() => void) | undefined;
}

export function TextField(props: TextFieldProps) {
  const { label, hint, error, value, type = 'text', rows, isMono, isRequired, isReadOnly, autoFocus } = props;
  const id = useId();
  const ref = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  useEffect(() => {
    if (autoFocus) ref.current?.focus();
  }, [autoFocus]);
  // Focus goes to the first field that the server rejected.
  useEffect(() => {
    if (error !== undefined && !document.activeElement?.matches('[aria-invalid="true"]')) ref.current?.focus();
  }, [error]);
  const common = {
    id,
    ref,
    class: `input ${isMono ? 'mono' : ''}`,
    value: value.value,
    required: isRequired,
    readOnly: isReadOnly,
    placeholder: props.placeholder,
    maxLength: props.maxLength,
    autoComplete: props.autoComplete,
    spellcheck: type === 'text' && rows !== undefined && !isMono,
    'aria-invalid': error !== undefined || undefined,
    'aria-describedby': describedBy(id, hint, error),
    onInput: (event: { currentTarget: { value: string } }) => {
      value.value = event.currentTarget.value;
      props.onInput?.();
    },
  };
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      {rows === undefined ? <input {...common} type={type as 'text'} /> : <textarea {...common} rows={rows} />}
    </Frame>
  );
}

export interface SelectFieldProps extends FieldProps {
  readonly value: Signal<string>;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly isReadOnly?: boolean | undefined;
  readonly onChange?: (() => void) | undefined;
}

/** The ID that a select field has: the first one, as soon as there is one, until another is chosen. */
export function useFirst(all: readonly { readonly id: bigint }[]): Signal<string> {
  const first = String(all[0]?.id ?? '');
  const chosen = useSignal(first);
  // Before the field looks at its value.
  useLayoutEffect(() => {
    if (chosen.value === '') chosen.value = first;
  }, [first]);
  return chosen;
}

export function SelectField({ label, hint, error, value, choices, isReadOnly, onChange }: SelectFieldProps) {
  const id = useId();
  const ref = useRef<HTMLSelectElement>(null);
  // What a form sends must be what its fields show. An address may say anything.
  useEffect(() => {
    if (
      ref.current?.form?.matches('.form') &&
      choices.length > 0 &&
      !choices.some((choice) => choice.value === value.value)
    ) {
      reportError(new Error(`${label}: "${value.value}" is not a choice`));
    }
  }, [choices, value.value]);
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <select
        ref={ref}
        id={id}
        class="input"
        value={value.value}
        disabled={isReadOnly}
        // Without a chosen option, the browser does not send the form.
        required={!choices.some((choice) => choice.value === '')}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={describedBy(id, hint, error)}
        onChange={(event) => {
          value.value = event.currentTarget.value;
          onChange?.();
        }}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Frame>
  );
}

export interface CheckFieldProps extends FieldProps {
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
  readonly disabledBecause?: string | undefined;
}

export function CheckField({ label, hint, error, isChecked, onChange, disabledBecause }: CheckFieldProps) {
  const id = useId();
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={isChecked}
        aria-disabled={disabledBecause !== undefined || undefined}
        aria-describedby={describedBy(id, disabledBecause ?? hint, error)}
        onClick={(event) => {
          if (disabledBecause !== undefined) event.preventDefault();
        }}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span class="grow">
        <label for={id}>{label}</label>
        {(disabledBecause ?? hint) !== undefined && (
          <span id={`${id}-hint`} class="quiet small block">
            {disabledBecause ?? hint}
          </span>
        )}
        <Problem id={id} error={error} />
      </span>
    </div>
  );
}

function Frame(props: FieldProps & { id: string; children: ComponentChildren }) {
  const { id, label, hint, error, children } = props;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint !== undefined && (
        <span id={`${id}-hint`} class="quiet small">
          {hint}
        </span>
      )}
      <Problem id={id} error={error} />
    </div>
  );
}

function Problem({ id, error }: { id: string; error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <span id={`${id}-error`} class="problem small" role="alert">
      {error}
    </span>
  );
}

function describedBy(id: string, hint: string | undefined, error: string | undefined): string | undefined {
  const ids = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean);
  return ids.length > 0 ? ids.join(' ') : undefined;
}
