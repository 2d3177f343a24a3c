import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';

export interface Choice {
  readonly value: string;
  readonly label: string;
  readonly detail?: ComponentChildren;
}

export interface PickerProps {
  readonly label: string;
  /** The chosen value. */
  readonly value: Signal<string>;
  /** What was typed; the owner turns it into choices, from the server if there are many. */
  readonly text: Signal<string>;
  readonly choices: readonly Choice[];
  readonly hint?: string | undefined;
  readonly error?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly onPick?: ((choice: Choice) => void) | undefined;
  readonly isLabelHidden?: boolean | undefined;
}

/** A combobox by the ARIA pattern: typing filters, arrows move, Enter picks, Escape closes. */
export function Picker(props: PickerProps) {
  const { label, value, text, choices, hint, error, placeholder, onPick, isLabelHidden } = props;
  const id = useId();
  const isOpen = useSignal(false);
  const active = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  const index = Math.min(active.value, choices.length - 1);

  function pick(choice: Choice): void {
    value.value = choice.value;
    text.value = choice.label;
    isOpen.value = false;
    onPick?.(choice);
    input.current?.focus();
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!isOpen.value) isOpen.value = true;
      else active.value = (index + (event.key === 'ArrowDown' ? 1 : -1) + choices.length) % Math.max(1, choices.length);
    } else if (event.key === 'Enter' && isOpen.value && choices[index]) {
      event.preventDefault();
      pick(choices[index]);
    } else if (event.key === 'Escape' && isOpen.value) {
      event.stopPropagation();
      event.preventDefault();
      isOpen.value = false;
    }
  }

  return (
    <div class="field picker">
      <label for={id} class={isLabelHidden ? 'only-read' : undefined}>
        {label}
      </label>
      <input
        ref={input}
        id={id}
        class="input"
        role="combobox"
        type="text"
        autoComplete="off"
        spellcheck={false}
        value={text.value}
        placeholder={placeholder}
        aria-expanded={isOpen.value && choices.length > 0}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={isOpen.value && choices.length > 0 ? `${id}-${index}` : undefined}
        aria-invalid={error !== undefined || undefined}
        aria-describedby={hint !== undefined || error !== undefined ? `${id}-hint` : undefined}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          value.value = '';
          active.value = 0;
          isOpen.value = true;
        }}
        onFocus={() => (isOpen.value = true)}
        onClick={() => (isOpen.value = true)}
        onBlur={() => (isOpen.value = false)}
        onKeyDown={onKeyDown}
      />
      <ul
        id={`${id}-list`}
        role="listbox"
        aria-label={label}
        class="choices"
        hidden={!isOpen.value || choices.length === 0}
      >
        {choices.map((choice, place) => (
          <li
            key={choice.value}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === index}
            class={place === index ? 'active' : undefined}
            // Before the field loses the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => pick(choice)}
          >
            <bdi>{choice.label}</bdi>
            {choice.detail && <span class="quiet small">{choice.detail}</span>}
          </li>
        ))}
      </ul>
      {(hint ?? error) !== undefined && (
        <span id={`${id}-hint`} class={error !== undefined ? 'problem small' : 'quiet small'}>
          {error ?? hint}
        </span>
      )}
    </div>
  );
}
