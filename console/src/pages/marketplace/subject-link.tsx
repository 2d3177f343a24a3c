import { type Delivery, keyOf } from './marketplace-words.ts';

/** The subscription and the installer that a delivery is about, if the server knows them. */
export function SubjectLink({ delivery }: { delivery: Pick<Delivery, 'subject' | 'links'> }) {
  const { subscription_id: subscription, installer } = delivery.links;
  return (
    <p class="line small">
      {subscription !== undefined && <a href={`/admin/subscriptions/${subscription}`}>The subscription</a>}
      {installer !== undefined && <a href={`/admin/installers/${encodeURIComponent(installer)}`}>The installer</a>}
      <code class="quiet subject-key">{keyOf(delivery.subject)}</code>
    </p>
  );
}
