import { useSignal } from '@preact/signals';
import { useRoute } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Chip, Facts, WebLink } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { INSTALLER_STATES, type Installer } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';
import { Timeline } from './timeline.tsx';

export function InstallerPage() {
  const id = useRoute().params.id ?? '';
  return (
    <MarketplaceOnly title="Installer">
      <Loaded key={id} id={id} />
    </MarketplaceOnly>
  );
}

function Loaded({ id }: { id: string }) {
  const installer = useResource('GET /admin/marketplace/installers/{id}', { path: { id } });
  return (
    <ShowPage title="Installer" within="Installers" of={installer}>
      {(found) => <Details installer={found} isStale={installer.isStale} />}
    </ShowPage>
  );
}

function Details({ installer, isStale }: { installer: Installer; isStale: boolean }) {
  const { id, state, marketplace, binding } = installer;
  const shown = useSignal<string | undefined>(undefined);
  const isRevoking = useSignal(false);
  const issue = useAction(async () => {
    const { link } = await api.call('POST /admin/marketplace/installers/{id}/link', { path: { id } });
    shown.value = link;
  });
  const noLinks = whyNoLinks(installer);
  return (
    <Page
      title={binding ? `Installer of ${binding.organization.name}` : 'Installer'}
      within="Installers"
      lead={INSTALLER_STATES[state].about}
      isStale={isStale}
      actions={
        <>
          <span data-key="n">
            <Button
              kind="main"
              isBusy={issue.isRunning}
              busyLabel="Creating"
              disabledBecause={noLinks}
              onClick={() => void issue.run()}
            >
              New link
            </Button>
          </span>
          <Button
            kind="danger"
            disabledBecause={binding === undefined ? 'It is not bound, so it has no link.' : undefined}
            onClick={() => (isRevoking.value = true)}
          >
            Revoke all links
          </Button>
        </>
      }
    >
      <Fault error={issue.error} />
      <Card>
        <div class="line">
          <StateMark words={INSTALLER_STATES[state]} />
          {installer.is_test && <Chip tone="info">test</Chip>}
        </div>
        <Facts
          of={[
            { name: 'Installer ID', value: <Copy text={id} label="Copy the installer ID" /> },
            { name: 'Marketplace', value: marketplace },
            { name: 'Created', value: <When at={installer.created_at} /> },
            ...(binding || state === 'spent'
              ? []
              : [{ name: 'Can be bound until', value: <When at={installer.expires_at} /> }]),
          ]}
        />
        {state === 'unbound' && (
          <p class="quiet small">A visitor with the ID may be able to bind it. Give it to the customer only.</p>
        )}
      </Card>
      {binding && <BindingCard binding={binding} />}
      <Card title="Deliveries">
        {binding?.subscription_id === undefined ? (
          <Timeline subject={`${marketplace}:${id}`} />
        ) : (
          <p>
            They are about <a href={`/admin/subscriptions/${binding.subscription_id}`}>the subscription</a> that bound
            it.
          </p>
        )}
      </Card>
      {shown.value !== undefined && (
        <ShownSecret
          title="The new link"
          secret={shown.value}
          copyLabel="Copy the link"
          commands={[
            {
              title: 'To download the archive',
              text: `read -r LINK   # paste the link, press Enter\ncurl -o archive.tar.gz "$LINK"`,
            },
          ]}
          onClose={() => (shown.value = undefined)}
        />
      )}
      {isRevoking.value && (
        <Confirm
          title="Revoke all links to the archive?"
          verb="Revoke all links"
          done="All links that were issued so far are worthless now."
          change={() => api.call('POST /admin/marketplace/installers/{id}/revoke', { path: { id } })}
          onClose={() => (isRevoking.value = false)}
        >
          <p>The links that were issued so far stop working. You can issue a new one.</p>
        </Confirm>
      )}
    </Page>
  );
}

function BindingCard({ binding }: { binding: NonNullable<Installer['binding']> }) {
  const { organization, contract } = binding;
  return (
    <Card title="Bound to">
      <Facts
        of={[
          { name: 'Organization', value: <a href={orgPath(organization.name)}>{organization.name}</a> },
          {
            name: 'Contract',
            value: (
              <span class="line">
                <a href={orgPath(organization.name, `/contracts/${contract.id}`)}>Contract {String(contract.id)}</a>
                {contract.revoked && <Chip tone="bad">revoked</Chip>}
              </span>
            ),
          },
          ...(binding.subscription_id === undefined
            ? []
            : [
                {
                  name: 'Subscription',
                  value: <a href={`/admin/subscriptions/${binding.subscription_id}`}>Subscription</a>,
                },
              ]),
          { name: 'Bound', value: <When at={binding.bound_at} /> },
          { name: 'Administrator', value: <bdi>{binding.admin_login}</bdi> },
          ...(binding.cluster_id ? [{ name: 'Cluster', value: <bdi>{binding.cluster_id}</bdi> }] : []),
          ...(binding.cloud_account ? [{ name: 'Cloud account', value: <bdi>{binding.cloud_account}</bdi> }] : []),
          { name: 'Domains', value: binding.domains.join(', ') },
          { name: 'Address', value: binding.base_url && <WebLink url={binding.base_url} /> },
          { name: 'Version', value: binding.version },
        ]}
      />
    </Card>
  );
}

function whyNoLinks({ state, binding }: Installer): string | undefined {
  if (state === 'spent') return 'Its organization or contract was deleted, so there is nothing to download.';
  if (binding === undefined) return 'It is not bound yet. The customer who binds it gets the first link.';
  if (binding.contract.revoked) return 'The contract is revoked, so there is nothing to download.';
  return undefined;
}
