import { useSignal } from '@preact/signals';
import { addressesIn } from '../../../../client/addresses.ts';
import { ApiError } from '../../../../client/errors.ts';
import { useAction } from '../../data/action.ts';
import { useAllowed } from '../../data/allowed.ts';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { useResource } from '../../data/resource.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { messageOf } from '../../parts/fault.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { permissionWord } from '../teams/permission-words.ts';
import { type Outcome, ShownLinks } from './shown-links.tsx';

const FIRST_TEAM = 'Viewers';
const DAY_MS = 86_400_000;

/** Invites every address of a list that was pasted, one call for each. */
export function InvitePeople({ org, onClose }: { org: string; onClose: () => void }) {
  const teams = useResource('GET /orgs/{org}/teams', { path: { org }, query: { limit: 50 } }).data ?? [];
  const { may } = useAllowed(
    org,
    teams.map(({ id }) => ({ type: 'team', id })),
  );
  const open = teams.filter(({ id, name }) => name === FIRST_TEAM || may('can_add_member', { type: 'team', id }));
  const text = useSignal('');
  const message = useSignal('');
  const days = useSignal('7');
  const isLinkShown = useSignal(false);
  /** Undefined until a team was chosen or taken away: then it is the first one. */
  const chosen = useSignal<ReadonlySet<bigint> | undefined>(undefined);
  const outcomes = useSignal<readonly Outcome[]>([]);
  const addresses = addressesIn(text.value);
  const first = open.filter(({ name }) => name === FIRST_TEAM).map(({ id }) => id);
  const teamIds = chosen.value ?? new Set(first);
  const invite = useAction(async () => {
    outcomes.value = [];
    const done: Outcome[] = [];
    for (const email of addresses) done.push(await inviteOne(email));
    outcomes.value = done;
  });

  /** One address that is rejected does not keep the other addresses out. */
  async function inviteOne(email: string): Promise<Outcome> {
    const body = {
      email,
      team_ids: [...teamIds],
      message: message.value,
      expires_at: new Date(Date.now() + Number(days.value) * DAY_MS - 60_000).toISOString(),
    };
    const query = isLinkShown.value ? { show_link: true } : {};
    try {
      const { id, link } = await api.call('POST /orgs/{org}/invitations', { path: { org }, query, body });
      return { email, id, link };
    } catch (error) {
      // With one address, the form shows what is wrong with it.
      if (!(error instanceof ApiError) || addresses.length === 1) throw error;
      return { email, problem: messageOf(error) };
    }
  }

  function choose(id: bigint, isChosen: boolean): void {
    const next = new Set(teamIds);
    if (isChosen) next.add(id);
    else next.delete(id);
    chosen.value = next;
  }

  if (outcomes.value.length > 0) return <ShownLinks org={org} outcomes={outcomes.value} onClose={onClose} />;
  return (
    <Dialog title={`Invite people to ${org}`} onClose={onClose}>
      <Form
        action={invite}
        verb={addresses.length > 1 ? `Invite ${addresses.length} people` : 'Invite'}
        fields={['email', 'message', 'expires_at', 'team_ids']}
        onCancel={onClose}
        disabledBecause={
          addresses.length === 0 ? 'Enter an address first.' : teamIds.size === 0 ? 'Choose a team first.' : undefined
        }
      >
        <TextField
          label="Addresses"
          value={text}
          rows={4}
          isRequired
          autoFocus
          hint="One or more, separated by spaces, commas or lines, with or without an account."
          error={invite.fieldError('email')}
        />
        <fieldset class="stack tight">
          <legend>Teams to join</legend>
          {open.map(({ id, name, permission }) => (
            <CheckField
              key={String(id)}
              label={`${name} (${permissionWord(permission)})`}
              isChecked={teamIds.has(id)}
              onChange={(isChosen) => choose(id, isChosen)}
            />
          ))}
        </fieldset>
        <TextField
          label="Message"
          value={message}
          rows={2}
          maxLength={500}
          hint="Optional, plain text. Addresses in it do not become links."
          error={invite.fieldError('message')}
        />
        <SelectField
          label="Ends"
          value={days}
          choices={[
            { value: '1', label: 'In a day' },
            { value: '7', label: 'In 7 days' },
            { value: '14', label: 'In 14 days' },
            { value: '30', label: 'In 30 days' },
          ]}
          error={invite.fieldError('expires_at')}
        />
        {pageData.features.mail ? (
          <CheckField
            label="Also show me the links"
            hint="For people who do not read their mail. A link that you hand over does not prove the address."
            isChecked={isLinkShown.value}
            onChange={(isShown) => (isLinkShown.value = isShown)}
          />
        ) : (
          <p class="quiet small">This server sends no email, so you get a link for each address.</p>
        )}
      </Form>
    </Dialog>
  );
}
