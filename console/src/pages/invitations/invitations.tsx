import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { useQueryFields } from '../../data/address.ts';
import { api } from '../../data/api.ts';
import { unlessEmpty } from '../../data/filters.ts';
import { useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Chip, type Tone } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { InvitePeople } from './invite-people.tsx';
import { type Outcome, ShownLinks } from './shown-links.tsx';

type Invitation = Item<'GET /orgs/{org}/invitations'>;
type State = 'open' | 'accepted' | 'expired';

const TONES: Readonly<Record<State, Tone>> = { open: 'info', accepted: 'ok', expired: 'quiet' };

export function InvitationsPage() {
  const { org, whyNot } = useOrg();
  const cannotInvite = whyNot('can_add_member', 'invite people to the organization');
  const { state, invite: asked } = useQueryFields({ state: '', invite: '' });
  const query = { state: unlessEmpty(state.value) as State | undefined, limit: 50 };
  const invitations = useList('GET /orgs/{org}/invitations', { path: { org }, query });
  // The first steps lead straight to the form.
  const isInviting = useSignal(asked.value !== '');
  const stopInviting = () => {
    isInviting.value = false;
    asked.value = '';
  };
  const revoked = useSignal<Invitation | undefined>(undefined);
  const shown = useSignal<readonly Outcome[]>([]);
  const resend = useAction(async ({ id, email }: Invitation) => {
    const sent = await api.call('POST /orgs/{org}/invitations/{id}/resend', { path: { org, id } });
    if (sent.link === undefined) notify({ kind: 'ok', text: `The invitation of ${email} was sent again.` });
    else shown.value = [{ email, link: sent.link }];
  });
  const invite = (
    <Button kind="main" icon="mail" whyNot={cannotInvite} onClick={() => (isInviting.value = true)}>
      Invite people
    </Button>
  );
  return (
    <Page
      title="Invitations"
      within={org}
      lead="Invite people by their address; they need no account yet. Each person who accepts joins the teams of the invitation."
      isStale={invitations.isStale}
      actions={<span data-key="n">{invite}</span>}
    >
      <Show of={invitations}>
        {(all) => (
          <div class="stack">
            <div class="filters" data-filter>
              <SelectField
                label="State"
                value={state}
                choices={[
                  { value: '', label: 'All' },
                  { value: 'open', label: 'Open' },
                  { value: 'accepted', label: 'Accepted' },
                  { value: 'expired', label: 'Expired' },
                ]}
              />
            </div>
            <Fault error={resend.error} />
            {all.length === 0 ? (
              <Empty
                text={
                  state.value === ''
                    ? 'No invitations yet. Paste a list of addresses, and each gets a link.'
                    : 'No invitation is in this state.'
                }
                action={state.value === '' ? invite : <Button onClick={() => (state.value = '')}>Clear filter</Button>}
                command={state.value === '' ? `atrium invitation create ADDRESS --org ${org}` : undefined}
              />
            ) : (
              <Table
                caption="Invitations"
                rows={all}
                keyOf={({ id }) => String(id)}
                total={invitations.total}
                hasMore={invitations.hasMore}
                onMore={invitations.loadMore}
                columns={[
                  { key: 'email', title: 'Address', cell: ({ email }) => <bdi class="strong">{email}</bdi> },
                  { key: 'state', title: 'State', cell: (row) => <Chip tone={TONES[row.state]}>{row.state}</Chip> },
                  {
                    key: 'teams',
                    title: 'Teams',
                    cell: ({ teams }) => <bdi>{teams.map(({ name }) => name).join(', ') || 'none left'}</bdi>,
                  },
                  {
                    key: 'by',
                    title: 'Invited by',
                    cell: ({ invited_by: by }) => <bdi>{by?.name ?? 'an account that is gone'}</bdi>,
                    isMinor: true,
                  },
                  {
                    key: 'end',
                    title: 'When',
                    cell: (row) => <Moment of={row} />,
                    isMinor: true,
                  },
                  {
                    key: 'resend',
                    title: '',
                    isNumber: true,
                    cell: (row) =>
                      row.state !== 'accepted' && (
                        <span class="line end">
                          <Button
                            label={`Resend the invitation of ${row.email}`}
                            isBusy={resend.isRunning}
                            onClick={() => void resend.run(row)}
                          >
                            Resend
                          </Button>
                          <Button label={`Revoke the invitation of ${row.email}`} onClick={() => (revoked.value = row)}>
                            Revoke
                          </Button>
                        </span>
                      ),
                  },
                ]}
              />
            )}
          </div>
        )}
      </Show>
      {isInviting.value && cannotInvite === undefined && <InvitePeople org={org} onClose={stopInviting} />}
      {revoked.value && <Revoke org={org} invitation={revoked.value} onClose={() => (revoked.value = undefined)} />}
      {shown.value.length > 0 && <ShownLinks org={org} outcomes={shown.value} onClose={() => (shown.value = [])} />}
    </Page>
  );
}

/** When it ended or ends. */
function Moment({ of: { state, accepted_at: accepted, expires_at: end } }: { of: Invitation }) {
  const word = { open: 'ends', accepted: 'accepted', expired: 'ended' }[state];
  return (
    <>
      {word} <When at={accepted ?? end} />
    </>
  );
}

function Revoke({ org, invitation, onClose }: { org: string; invitation: Invitation; onClose: () => void }) {
  const { id, email } = invitation;
  return (
    <Confirm
      title={`Revoke the invitation of ${email}?`}
      verb="Revoke"
      done={`The invitation of ${email} was revoked.`}
      change={() => api.call('DELETE /orgs/{org}/invitations/{id}', { path: { org, id } })}
      onClose={onClose}
    >
      <p>The link stops working. You can invite the address again at any time.</p>
    </Confirm>
  );
}
