import { useSignal } from '@preact/signals';
import { Icon } from '../icons/icon.tsx';

const SHOWN_MS = 2000;

/** A text and a button that copies it. The clipboard is used only on a click. */
export function Copy({ text, label = 'Copy', isHidden }: { text: string; label?: string; isHidden?: boolean }) {
  const isCopied = useSignal(false);
  return (
    <span class="copy">
      {!isHidden && <code class="cut">{text}</code>}
      <button
        type="button"
        class="icon-button"
        aria-label={label}
        title={label}
        onClick={async () => {
          await navigator.clipboard.writeText(text);
          isCopied.value = true;
          setTimeout(() => {
            isCopied.value = false;
          }, SHOWN_MS);
        }}
      >
        <Icon name={isCopied.value ? 'check' : 'copy'} size={14} />
      </button>
      <span class="only-read" role="status">
        {isCopied.value ? 'Copied' : ''}
      </span>
    </span>
  );
}

/** Several lines to copy, such as a command. */
export function CodeBlock({ text, label = 'Copy' }: { text: string; label?: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reachable by keyboard */}
      <pre tabIndex={0}>{text}</pre>
      <Copy text={text} label={label} isHidden />
    </div>
  );
}
