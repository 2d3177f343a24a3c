import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { AdminOnly } from './admin-only.tsx';
import { ProviderHealth } from './provider-health.tsx';
import { linesOf, readMappings, textOf } from './provider-mappings.ts';
import { ProviderPreview } from './provider-preview.tsx';

type Provider = Answer<'GET /admin/providers/{provider}'>;

const LINKING = [
  { value: 'consent', label: 'Ask the owner of the account' },
  { value: 'automatic', label: 'Link the account immediately' },
  { value: 'off', label: 'Do not link' },
] as const;
const FIELDS = [
  'display_name',
  'issuer',
  'client_id',
  'client_secret',
  'scopes',
  'allowed_domains',
  'group_claim',
  'group_mappings',
  'session_hours',
  'session_idle_minutes',
  'recheck_minutes',
] as const;

export function ProviderPage() {
  return (
    <AdminOnly title="Provider">
      <ProviderOf name={useRoute().params.provider ?? ''} />
    </AdminOnly>
  );
}

function ProviderOf({ name }: { name: string }) {
  const provider = useResource('GET /admin/providers/{provider}', { path: { provider: name } });
  return (
    <ShowPage title={name} within="Sign-in providers" of={provider}>
      {(data) => <Details key={data.name} provider={data} etag={provider.etag} />}
    </ShowPage>
  );
}

function Details({ provider, etag }: { provider: Provider; etag: string | undefined }) {
  const { route } = useLocation();
  const isRemoving = useSignal(false);
  const isFixed = provider.origin === 'settings';
  const lead = isFixed ? 'This provider comes from the settings of the server, and is changed there.' : provider.issuer;
  return (
    <Page
      title={provider.display_name}
      within="Sign-in providers"
      lead={lead}
      actions={!isFixed && <Button onClick={() => (isRemoving.value = true)}>Remove</Button>}
    >
      <Card title="Register at the provider">
        {[
          { name: 'Redirect URI', uri: provider.redirect_uri },
          { name: 'Post-logout redirect URI', uri: provider.post_logout_redirect_uri },
          { name: 'Back-channel logout URI', uri: provider.backchannel_logout_uri },
        ].map(({ name, uri }) => (
          <div key={name} class="stack tight">
            <h3>{name}</h3>
            <CodeBlock text={uri} label={`Copy the ${name}`} />
          </div>
        ))}
      </Card>
      <ProviderHealth provider={provider} />
      {provider.missing_teams.length > 0 && (
        <p class="note warn">{`Mappings name teams that do not exist: ${provider.missing_teams.join(', ')}`}</p>
      )}
      {!isFixed && <EditProvider provider={provider} etag={etag} />}
      <ProviderPreview provider={provider.name} />
      {isRemoving.value && (
        <Confirm
          title={`Remove ${provider.display_name}?`}
          verb="Remove provider"
          typedName={provider.name}
          done="The provider was removed."
          change={() => api.call('DELETE /admin/providers/{provider}', { path: { provider: provider.name } })}
          onClose={() => (isRemoving.value = false)}
          onDone={() => route('/admin/providers')}
        >
          <p>
            No user can sign in with it any more. Sessions that are open end when the provider would have been asked
            about them again. Linked accounts stay linked.
          </p>
        </Confirm>
      )}
    </Page>
  );
}

function EditProvider({ provider, etag }: { provider: Provider; etag: string | undefined }) {
  const displayName = useSignal(provider.display_name);
  const issuer = useSignal(provider.issuer);
  const clientId = useSignal(provider.client_id);
  const secret = useSignal('');
  const scopes = useSignal(provider.scopes.join(' '));
  const domains = useSignal(provider.allowed_domains.join('\n'));
  const linking = useSignal<string>(provider.linking);
  const claim = useSignal(provider.group_claim);
  const mappings = useSignal(textOf(provider.group_mappings));
  const flags = useSignal({
    enabled: provider.enabled,
    create_accounts: provider.create_accounts,
    trust_email: provider.trust_email,
    trust_second_factor: provider.trust_second_factor,
    allow_remember: provider.allow_remember,
  });
  const hours = useSignal(numberText(provider.session_hours));
  const idle = useSignal(numberText(provider.session_idle_minutes));
  const recheck = useSignal(numberText(provider.recheck_minutes));
  const read = readMappings(mappings.value);
  const wrongLine = 'wrong' in read ? `Not a mapping: ${read.wrong}` : undefined;
  const save = useAction(async () => {
    await api.call('PATCH /admin/providers/{provider}', {
      path: { provider: provider.name },
      ifMatch: etag,
      body: {
        ...flags.value,
        display_name: displayName.value,
        issuer: issuer.value.trim(),
        client_id: clientId.value.trim(),
        scopes: scopes.value.split(/\s+/).filter((scope) => scope !== ''),
        allowed_domains: linesOf(domains.value),
        linking: linking.value as Provider['linking'],
        group_claim: claim.value.trim(),
        group_mappings: 'wrong' in read ? [] : [...read],
        session_hours: numberIn(hours.value),
        session_idle_minutes: numberIn(idle.value),
        recheck_minutes: numberIn(recheck.value),
        ...(secret.value !== '' && { client_secret: secret.value }),
      },
    });
    secret.value = '';
    notify({ kind: 'ok', text: 'The provider was saved.' });
  });
  const check = (field: keyof typeof flags.value, label: string, hint: string) => (
    <CheckField
      label={label}
      hint={hint}
      isChecked={flags.value[field]}
      onChange={(is) => (flags.value = { ...flags.value, [field]: is })}
    />
  );
  return (
    <Card title="Settings">
      <Form action={save} verb="Save provider" fields={FIELDS} disabledBecause={wrongLine}>
        {check('enabled', 'Enabled', 'The sign-in page has a button for it.')}
        <TextField label="Display name" value={displayName} isRequired error={save.fieldError('display_name')} />
        <TextField label="Issuer" type="url" value={issuer} isRequired error={save.fieldError('issuer')} />
        <TextField label="Client ID" value={clientId} isRequired error={save.fieldError('client_id')} />
        <TextField
          label="Client secret"
          type="password"
          value={secret}
          autoComplete="off"
          hint={provider.has_client_secret ? 'Empty keeps the one that is stored.' : 'None is stored.'}
          error={save.fieldError('client_secret')}
        />
        <TextField label="Scopes" value={scopes} isMono error={save.fieldError('scopes')} />
        {check('create_accounts', 'Create accounts', 'At the first sign-in of a person who has none.')}
        <TextField
          label="Allowed domains"
          value={domains}
          rows={2}
          isMono
          hint="Of email addresses, one on each line. Empty allows any."
          error={save.fieldError('allowed_domains')}
        />
        <SelectField
          label="If an account has the same verified address"
          value={linking}
          choices={LINKING}
          hint="Site administrators are always asked."
        />
        {check(
          'trust_email',
          'Trust email addresses',
          'Even if the provider does not say whether it has verified them.',
        )}
        {check('trust_second_factor', 'Trust the second factor', 'The provider asks for one.')}
        <TextField
          label="Claim with groups"
          value={claim}
          isMono
          placeholder="groups"
          error={save.fieldError('group_claim')}
        />
        <TextField
          label="Groups and teams"
          value={mappings}
          rows={4}
          isMono
          hint="One on each line, such as: ops = acme/Operators"
          error={wrongLine ?? save.fieldError('group_mappings')}
        />
        <TextField
          label="Sessions last at most, in hours"
          type="number"
          value={hours}
          hint="If empty, the settings of the server decide. The same holds for the next two fields."
          error={save.fieldError('session_hours')}
        />
        <TextField
          label="Sessions end without use after, in minutes"
          type="number"
          value={idle}
          hint="0: sessions do not end for this reason."
          error={save.fieldError('session_idle_minutes')}
        />
        <TextField
          label="Ask the provider again after, in minutes"
          type="number"
          value={recheck}
          hint="How soon a session ends after its account is disabled or deleted at the provider. 0: it does not."
          error={save.fieldError('recheck_minutes')}
        />
        {check('allow_remember', 'Allow "Keep me signed in"', 'Sessions may last longer then.')}
      </Form>
    </Card>
  );
}

function numberText(value: number | null): string {
  return value === null ? '' : String(value);
}

/** Empty means what the settings say. */
function numberIn(text: string): number | null {
  return text.trim() === '' ? null : Number(text);
}
