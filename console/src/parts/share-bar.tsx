import type { Tone } from './bits.tsx';
import { percentOf } from './share.ts';
import './share-bar.css';

interface ShareProps {
  readonly part: number;
  readonly all: number;
  readonly tone: Tone;
}

/** A part of a whole as a bar and in percent; the numbers themselves are next to it. */
export function ShareBar({ part, all, tone }: ShareProps) {
  return (
    <span class="share-bar">
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="whole" width="100" height="8" />
        <rect class={`fill ${tone}`} width={all === 0 ? 0 : (100 * part) / all} height="8" />
      </svg>
      <span class="small quiet">{percentOf(part, all)}</span>
    </span>
  );
}

const RADIUS = 15.9155;

/** The same as a ring, whose circumference is 100. */
export function ShareRing({ part, all, tone }: ShareProps) {
  const share = all === 0 ? 0 : (100 * part) / all;
  return (
    <span class="share-ring">
      <svg viewBox="0 0 40 40" aria-hidden="true">
        <circle class="whole" cx="20" cy="20" r={RADIUS} />
        <circle
          class={`arc ${tone}`}
          cx="20"
          cy="20"
          r={RADIUS}
          stroke-dasharray={`${share} ${100 - share}`}
          transform="rotate(-90 20 20)"
        />
      </svg>
      <span class="strong">{percentOf(part, all)}</span>
    </span>
  );
}
