import { useRoute } from 'preact-iso';
import type { Answer, Item } from '../../../../client/client.ts';
import { useList, useResource } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { CodeBlock, Copy } from '../../parts/copy.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { InstallerTable } from './installers.tsx';
import { jsonText } from './json-text.ts';
import { SUBSCRIPTION_STATES, shortSubject } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';
import { type Happening, Timeline } from './timeline.tsx';

type AuditEntry = Item<'GET /admin/audit'>;
type Subscription = Answer<'GET /admin/marketplace/subscriptions/{id}'>;

export function SubscriptionPage() {
  const id = useRoute().params.id ?? '';
  return (
    <MarketplaceOnly title={`Subscription ${id}`}>
      <Loaded key={id} id={id} />
    </MarketplaceOnly>
  );
}

function Loaded({ id }: { id: string }) {
  const subscription = useResource('GET /admin/marketplace/subscriptions/{id}', { path: { id } });
  return (
    <ShowPage title={`Subscription ${id}`} within="Subscriptions" of={subscription}>
      {(found) => <Details subscription={found} isStale={subscription.isStale} />}
    </ShowPage>
  );
}

function Details({ subscription, isStale }: { subscription: Subscription; isStale: boolean }) {
  const { application_id: application, installers, plan } = subscription;
  const happenings = useHappenings(subscription);
  return (
    <Page
      title={shortSubject(application)}
      within="Subscriptions"
      lead={`A subscription of ${subscription.marketplace}`}
      isStale={isStale}
    >
      <Card>
        <StateMark words={SUBSCRIPTION_STATES[subscription.state]} />
        <Facts
          of={[
            { name: 'Announced', value: <When at={subscription.created_at} /> },
            { name: 'Changed', value: <When at={subscription.updated_at} /> },
            { name: 'Latest event, by the clock of the marketplace', value: <When at={subscription.event_time} /> },
            { name: 'Application', value: <Copy text={application} label="Copy the application ID" /> },
            ...(subscription.managed_resource_group_id
              ? [
                  {
                    name: 'Managed resource group',
                    value: <Copy text={subscription.managed_resource_group_id} label="Copy the resource group ID" />,
                  },
                ]
              : []),
            ...(subscription.resource_usage_id
              ? [
                  {
                    name: 'Resource usage',
                    value: <Copy text={subscription.resource_usage_id} label="Copy the resource usage ID" />,
                  },
                ]
              : []),
          ]}
        />
      </Card>
      <Card title="Installers">
        {installers.length === 0 ? (
          <p class="quiet">No installer is bound to it.</p>
        ) : (
          <InstallerTable installers={installers} />
        )}
      </Card>
      <Card title="History">
        <p class="quiet small">What the marketplace sent, and what became of the subscription. The newest is first.</p>
        <Timeline subject={subscription.subject} others={happenings} />
      </Card>
      {plan !== null && plan !== undefined && (
        <Card title="What was bought">
          <CodeBlock text={jsonText(plan)} label="Copy the plan" />
        </Card>
      )}
    </Page>
  );
}

const MAX_HAPPENINGS = 200;

/** Each state that it was in, and the links that were issued or revoked since it was bound. */
function useHappenings({ id, installers }: Subscription): readonly Happening[] {
  const org = installers.find(({ binding }) => binding !== undefined)?.binding?.organization.name;
  const states = useList('GET /admin/audit', { query: { object: `subscription:${id}`, limit: MAX_HAPPENINGS } });
  const links = useList(org === undefined ? undefined : 'GET /admin/audit', {
    query: { org, action: 'installer.', limit: MAX_HAPPENINGS },
  });
  return [...(links.data ?? []), ...(states.data ?? [])].map((entry) => ({
    key: `audit ${entry.id}`,
    at: entry.at,
    text: happeningText(entry),
    // What a marketplace causes is recorded under its own name, or that of the server.
    by: entry.action.startsWith('subscription.') ? '' : entry.actor.name,
  }));
}

function happeningText({ action, after }: AuditEntry): string {
  const { state = '' } = (after ?? {}) as { state?: string };
  const label = SUBSCRIPTION_STATES[state as Subscription['state']]?.label ?? state;
  switch (action) {
    case 'subscription.create':
      return `Announced: ${label}`;
    case 'subscription.update':
      return label;
    case 'installer.bind':
      return 'An installer was bound, and the customer got a link';
    case 'installer.link':
      return 'Another link was issued';
    case 'installer.revoke':
      return 'All links were revoked';
    default:
      return action;
  }
}
