import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Card, Chip, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { LeaveOrganizations } from './delete-user.tsx';
import type { Teams } from './user-orgs.tsx';
import type { User } from './user-state.tsx';

type Hold = Item<'GET /admin/holds'>;

/** What goes for good, as docs/audit.md says it at length. */
const REMOVED = [
  'their username, full name, addresses and profile, in every entry of every audit log',
  'names of their passkeys, and of their accounts at sign-in providers',
  'reasons and comments that they wrote',
  'the account, and everything that it owns',
];
const STAYS = [
  ['The number of the account, and what was done by it and to it', 'Without it, the past could not be answered for.'],
  ['What other people wrote about them', 'It belongs to those people.'],
  ['Names in the records of access reviews', 'They are evidence, which the audit log proves byte for byte.'],
  ['Entries from before the audit log could forget', 'Their hashes cover the names in clear text.'],
  ['The username, as reserved, for 90 days', 'No other account can take it, and with it what still names it.'],
  ['Backups, exports, and copies in other systems', 'Atrium cannot reach them. Delete them when their time is over.'],
] as const;

interface Props {
  readonly user: User;
  readonly teams: Teams;
}

/** Whether a person may be erased, and how. Few come for this, so the answer is asked for when it is wanted. */
export function UserPrivacy({ user, teams }: Props) {
  const { route } = useLocation();
  const hold = useSignal<Hold | null | undefined>(undefined);
  const dialog = useSignal<'hold' | 'release' | 'erase' | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  const look = useAction(async () => {
    hold.value = await holdOn(user.id);
  });
  const path = { username: user.login };
  const held = hold.value;
  return (
    <Card
      title="Erasure and legal hold"
      actions={
        held === undefined ? (
          <Button isBusy={look.isRunning} onClick={() => void look.run()}>
            Show legal hold
          </Button>
        ) : (
          <div class="line">
            {held === null ? (
              <Button onClick={() => (dialog.value = 'hold')}>Begin legal hold</Button>
            ) : (
              <Button onClick={() => (dialog.value = 'release')}>Release legal hold</Button>
            )}
            <Button
              kind="danger"
              disabledBecause={held === null ? undefined : 'Release the legal hold first.'}
              onClick={() => (dialog.value = 'erase')}
            >
              Erase person
            </Button>
          </div>
        )
      }
    >
      <Fault error={look.error} />
      {held === undefined && (
        <p class="quiet">What identifies them in the audit log can be erased, unless there is a legal hold.</p>
      )}
      {held === null && <p>There is no legal hold: they can be erased.</p>}
      {held && (
        <p>
          <Chip tone="warn">legal hold</Chip> They cannot be erased: <bdi>{held.reason}</bdi>. Since{' '}
          <When at={held.created_at} />.
        </p>
      )}
      {dialog.value === 'hold' && (
        <BeginHold login={user.login} onClose={close} onDone={(begun) => (hold.value = begun)} />
      )}
      {dialog.value === 'release' && (
        <Confirm
          title={`Release the legal hold on ${user.login}?`}
          verb="Release legal hold"
          done="The legal hold is released."
          change={() => api.call('DELETE /admin/users/{username}/hold', { path })}
          onClose={close}
          onDone={() => (hold.value = null)}
        >
          <p>From then on, any site administrator can erase them. Who released it is in the audit log.</p>
        </Confirm>
      )}
      {dialog.value === 'erase' && (
        <EraseUser user={user} teams={teams} onClose={close} onDone={() => route('/admin/users')} />
      )}
    </Card>
  );
}

async function holdOn(id: User['id']): Promise<Hold | null> {
  for await (const hold of api.each('GET /admin/holds')) if (String(hold.user.id) === String(id)) return hold;
  return null;
}

interface BeginHoldProps {
  readonly login: string;
  readonly onClose: () => void;
  readonly onDone: (hold: Hold) => void;
}

function BeginHold({ login, onClose, onDone }: BeginHoldProps) {
  const reason = useSignal('');
  const begin = useAction(async () => {
    const body = { reason: reason.value.trim() };
    onDone(await api.call('PUT /admin/users/{username}/hold', { path: { username: login }, body }));
    notify({ kind: 'ok', text: `${login} cannot be erased until the hold is released.` });
  });
  return (
    <FormDialog
      title={`Begin a legal hold on ${login}`}
      verb="Begin legal hold"
      action={begin}
      fields={['reason']}
      onClose={onClose}
    >
      <p>
        For as long as evidence about them must be kept, for a lawsuit or an investigation. The account can still be
        used, or deleted: the audit log stays.
      </p>
      <TextField
        label="Reason"
        value={reason}
        isRequired
        autoFocus
        autoComplete="off"
        maxLength={200}
        hint="Such as the number of the case. Site administrators see it, and it is in the audit log."
        error={begin.fieldError('reason')}
      />
    </FormDialog>
  );
}

interface EraseUserProps extends Props {
  readonly onClose: () => void;
  readonly onDone: () => void;
}

function EraseUser({ user: { id, login }, teams, onClose, onDone }: EraseUserProps) {
  const isLeaving = useSignal(false);
  const query = () => ({ erase: 'true', ...(isLeaving.value && { orphan: 'true' }) }) as const;
  return (
    <Confirm
      title={`Erase ${login}?`}
      verb="Erase person"
      typedName={login}
      done={`${login} was erased, and is shown as erased user ${id}.`}
      change={() => api.call('DELETE /admin/users/{username}', { path: { username: login }, query: query() })}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        This cannot be undone. They are shown as <strong>erased user {String(id)}</strong>, and every hash of the audit
        log stays valid. That you did it is an entry of its own.
      </p>
      <h3>Removed for good</h3>
      <ul class="bullets">
        {REMOVED.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <h3>Stays, and why</h3>
      <Facts of={STAYS.map(([name, why]) => ({ name, value: why }))} />
      <LeaveOrganizations teams={teams} isLeaving={isLeaving} />
    </Confirm>
  );
}
