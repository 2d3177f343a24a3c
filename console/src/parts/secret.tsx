import { Button } from './button.tsx';
import { CodeBlock } from './copy.tsx';
import { Dialog } from './dialog.tsx';

export interface ShownSecretProps {
  readonly title: string;
  readonly secret: string;
  /** What the button that copies it is called. */
  readonly copyLabel?: string | undefined;
  /** How to use it; `$TOKEN` stands for it. */
  readonly commands: readonly { readonly title: string; readonly text: string }[];
  readonly onClose: () => void;
}

/** A secret that the server shows only once. Nothing keeps it after the dialog has closed. */
export function ShownSecret({ title, secret, copyLabel = 'Copy the token', commands, onClose }: ShownSecretProps) {
  return (
    <Dialog title={title} onClose={onClose} size="wide">
      <p class="note warn">This is shown only once. Copy it now, and keep it where secrets are kept.</p>
      <CodeBlock text={secret} label={copyLabel} />
      {commands.map((command) => (
        <div key={command.title} class="stack tight">
          <h3>{command.title}</h3>
          <CodeBlock text={command.text} />
        </div>
      ))}
      <div class="line end">
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
