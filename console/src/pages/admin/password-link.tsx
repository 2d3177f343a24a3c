import { useSignal } from '@preact/signals';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { ShownSecret } from '../../parts/secret.tsx';

/** A link for a user who has forgotten the password, and gets no email from the server. */
export function PasswordLink({ login, onClose }: { login: string; onClose: () => void }) {
  const link = useSignal<string | undefined>(undefined);
  const create = useAction(async () => {
    const made = await api.call('POST /admin/users/{username}/password_link', { path: { username: login } });
    link.value = made.link;
  });
  if (link.value !== undefined) {
    return (
      <ShownSecret
        title={`A link for ${login}`}
        secret={link.value}
        copyLabel="Copy the link"
        commands={[]}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={`Create a password link for ${login}`} onClose={onClose}>
      <p>
        With this link, <bdi>{login}</bdi> sets a new password. It works once, within 30 minutes, and ends earlier
        links. Give it to no other person: anyone who opens it can set the password.
      </p>
      <Fault error={create.error} />
      <div class="line end">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" isBusy={create.isRunning} onClick={() => void create.run()}>
          Create link
        </Button>
      </div>
    </Dialog>
  );
}
