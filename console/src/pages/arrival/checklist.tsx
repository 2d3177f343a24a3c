import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import { me } from '../../data/session.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import './arrival.css';

export interface FirstStep {
  readonly title: string;
  /** A fact, never something that the user ticks. */
  readonly isDone: boolean;
  /** What it is good for, or how it is done where no page does it. */
  readonly text: ComponentChildren;
  readonly verb?: string;
  readonly href?: string;
}

const isHiddenKey = (about: string) => `atrium.steps.${me.value?.id}.${about}`;

/** Whether this user has hidden the checklist in this browser. */
export function isChecklistHidden(about: string): boolean {
  try {
    return localStorage.getItem(isHiddenKey(about)) !== null;
  } catch {
    return false;
  }
}

interface ChecklistProps {
  /** What it is remembered by, if the user hides it. */
  readonly about: string;
  readonly title: string;
  readonly steps: readonly FirstStep[];
}

/** What comes first, ticked by facts. It goes when all is done, but not while the user looks at it. */
export function Checklist({ about, title, steps }: ChecklistProps) {
  const isHidden = useSignal(isChecklistHidden(about));
  const left = steps.filter(({ isDone }) => !isDone);
  const wasOpen = useRef(false);
  wasOpen.current ||= left.length > 0;
  if (isHidden.value || !wasOpen.current) return null;
  const hide = () => {
    isHidden.value = true;
    try {
      localStorage.setItem(isHiddenKey(about), 'hidden');
    } catch {
      // Without storage, it is hidden until the page is loaded anew.
    }
  };
  return (
    <Card title={title} actions={<Button onClick={hide}>Hide</Button>}>
      <p class="quiet" role="status">
        {left.length === 0 ? `All ${steps.length} done.` : `${steps.length - left.length} of ${steps.length} done.`}
      </p>
      <ol class="first-steps">
        {steps.map((step) => (
          <Step key={step.title} step={step} isNext={step === left[0]} />
        ))}
      </ol>
    </Card>
  );
}

/** The next one has the main button, so that there is always one thing to do. */
function Step({ step: { title, isDone, text, verb, href }, isNext }: { step: FirstStep; isNext: boolean }) {
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="tick" aria-hidden="true">
        {isDone && <Icon name="check" size={14} />}
      </span>
      <div>
        <h3>
          {title} <span class="only-read">{isDone ? '(done)' : '(to do)'}</span>
        </h3>
        {!isDone && <p class="quiet">{text}</p>}
      </div>
      {!isDone && href !== undefined && (
        <LinkButton href={href} kind={isNext ? 'main' : 'plain'}>
          {verb}
        </LinkButton>
      )}
    </li>
  );
}
