import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';

/** Shown once. Nothing keeps them after the dialog has closed. */
export function RecoveryCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <Dialog title="Your recovery codes" isRequired onClose={onClose}>
      <p class="note warn">These are shown only once. Print them, or keep them where passwords are kept.</p>
      <p>Each works once, if you lose your second factor.</p>
      <CodeBlock text={codes.join('\n')} label="Copy the codes" />
      <div class="line end">
        <Button kind="main" onClick={onClose}>
          I have kept them
        </Button>
      </div>
    </Dialog>
  );
}
