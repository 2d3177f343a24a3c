import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Fault } from '../../parts/fault.tsx';
import { notify } from '../../parts/toast.tsx';

/** What became of one address. */
export interface Outcome {
  readonly email: string;
  /** Of the invitation, if there is one. */
  readonly id?: bigint | undefined;
  readonly link?: string | undefined;
  readonly problem?: string | undefined;
}

interface ShownLinksProps {
  readonly org: string;
  readonly outcomes: readonly Outcome[];
  readonly onClose: () => void;
}

/** Links are shown only once. Nothing keeps them after the dialog has closed. */
export function ShownLinks({ org, outcomes, onClose }: ShownLinksProps) {
  const made = outcomes.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const revoke = useAction(async () => {
    for (const id of made) await api.call('DELETE /orgs/{org}/invitations/{id}', { path: { org, id } });
    notify({ kind: 'ok', text: 'Undone: no link of these works any more.' });
    onClose();
  });
  const links = outcomes.filter(({ link }) => link !== undefined);
  const sent = outcomes.filter(({ link, problem }) => link === undefined && problem === undefined);
  const problems = outcomes.filter(({ problem }) => problem !== undefined);
  return (
    <Dialog
      title={problems.length === outcomes.length ? 'No invitation was created' : 'Invited'}
      onClose={onClose}
      size="wide"
    >
      {sent.length > 0 && <p>{`An email with a link went to ${sent.map(({ email }) => email).join(', ')}.`}</p>}
      {links.length > 0 && (
        <>
          <p class="note warn">
            These links are shown only once. Give each to the person that it is for: every person who has it can join.
          </p>
          {links.map(({ email, link = '' }) => (
            <div key={email} class="stack tight">
              <h3>
                <bdi>{email}</bdi>
              </h3>
              <CodeBlock text={link} label={`Copy the link for ${email}`} />
            </div>
          ))}
        </>
      )}
      {problems.length > 0 && (
        <>
          <h3>Not invited</h3>
          <ul class="stack tight">
            {problems.map(({ email, problem }) => (
              <li key={email}>
                <bdi class="strong">{email}</bdi>
                {`: ${problem}`}
              </li>
            ))}
          </ul>
        </>
      )}
      <Fault error={revoke.error} />
      <div class="line end">
        {made.length > 0 && (
          <Button isBusy={revoke.isRunning} busyLabel="Undoing" onClick={() => void revoke.run()}>
            {made.length === 1 ? 'Undo this invitation' : 'Undo these invitations'}
          </Button>
        )}
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
