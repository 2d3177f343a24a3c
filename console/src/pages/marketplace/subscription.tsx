import { useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { CodeBlock, Copy } from '../../parts/copy.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { MarketplaceOnly } from '../admin/admin-only.tsx';
import { InstallerTable } from './installers.tsx';
import { jsonText } from './json-text.ts';
import { SUBSCRIPTION_STATES, shortSubject } from './marketplace-words.ts';
import { StateMark } from './state-mark.tsx';
import { Timeline } from './timeline.tsx';

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
      <Card title="Deliveries">
        <Timeline subject={subscription.subject} />
      </Card>
      {plan !== null && plan !== undefined && (
        <Card title="What was bought">
          <CodeBlock text={jsonText(plan)} label="Copy the plan" />
        </Card>
      )}
    </Page>
  );
}
