import type { Tone } from '../../parts/bits.tsx';

/** A state: a dot and the word, never the color alone. */
export function StateMark({ words }: { words: { readonly label: string; readonly tone: Tone } | undefined }) {
  return (
    <span class={`phase ${words?.tone ?? 'quiet'}`}>
      <span class="dot" aria-hidden="true" />
      {words?.label ?? 'Unknown'}
    </span>
  );
}
