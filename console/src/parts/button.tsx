import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { WhyNotQuestion } from '../data/org.ts';
import { viewing } from '../data/view-as.ts';
import { Icon, type IconName } from '../icons/icon.tsx';
import { WhyNot } from './why-not.tsx';

export interface ButtonProps {
  readonly children: ComponentChildren;
  readonly kind?: 'main' | 'plain' | 'danger' | undefined;
  readonly icon?: IconName | undefined;
  readonly type?: 'button' | 'submit' | undefined;
  readonly onClick?: (() => void) | undefined;
  /** While a change is being saved, the word changes and the page stays usable. */
  readonly isBusy?: boolean | undefined;
  readonly busyLabel?: string | undefined;
  /** Why it cannot be used. It stays focusable, and says so. */
  readonly disabledBecause?: string | undefined;
  /** A missing permission: the button opens why, and who can help. */
  readonly whyNot?: WhyNotQuestion | undefined;
  readonly label?: string | undefined;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', icon, type = 'button', onClick, isBusy, busyLabel = 'Saving', label } = props;
  const reasonId = useId();
  const { whyNot } = props;
  // What needs a permission changes something.
  const isLocked = 'whyNot' in props && viewing.value?.isLocked === true;
  const disabledBecause = props.disabledBecause ?? (isLocked ? 'Unlock changes first.' : undefined);
  if (whyNot !== undefined) {
    return (
      <WhyNot question={whyNot} kind={kind} label={label}>
        {icon && <Icon name={icon} />}
        {children}
      </WhyNot>
    );
  }
  const isDisabled = disabledBecause !== undefined;
  return (
    <span class={isDisabled ? 'explained' : undefined}>
      <button
        type={type}
        class={`button ${kind}`}
        aria-disabled={isDisabled || undefined}
        aria-describedby={isDisabled ? reasonId : undefined}
        aria-label={label}
        onClick={(event) => {
          if (isDisabled || isBusy) event.preventDefault();
          else onClick?.();
        }}
      >
        {icon && <Icon name={icon} />}
        {isBusy ? busyLabel : children}
      </button>
      {isDisabled && (
        <span id={reasonId} role="tooltip" class="reason">
          {disabledBecause}
        </span>
      )}
    </span>
  );
}

export function LinkButton(props: { href: string; kind?: string; icon?: IconName; children: ComponentChildren }) {
  const { href, kind = 'plain', icon, children } = props;
  return (
    <a class={`button ${kind}`} href={href}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}
