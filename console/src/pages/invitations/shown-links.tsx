import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';

/** What became of one address. */
export interface Outcome {
  readonly email: string;
  readonly link?: string | undefined;
  readonly problem?: string | undefined;
}

/** Links are shown only once. Nothing keeps them after the dialog has closed. */
export function ShownLinks({ outcomes, onClose }: { outcomes: readonly Outcome[]; onClose: () => void }) {
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
      <div class="line end">
        <Button kind="main" onClick={onClose}>
          Done
        </Button>
      </div>
    </Dialog>
  );
}
