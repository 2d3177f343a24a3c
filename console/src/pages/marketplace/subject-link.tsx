import { useResource } from '../../data/resource.ts';
import { keyOf } from './marketplace-words.ts';

/** The subscription or the installer that a delivery is about, if the server knows it. */
export function SubjectLink({ subject, marketplace }: { subject: string; marketplace: string }) {
  const key = keyOf(subject);
  const isApplication = key.includes('/');
  const subscriptions = useResource(isApplication ? 'GET /admin/marketplace/subscriptions' : undefined, {
    query: { q: key, marketplace, limit: 10 },
  });
  const installers = useResource(isApplication ? undefined : 'GET /admin/marketplace/installers', {
    query: { q: key, marketplace, limit: 10 },
  });
  const subscription = subscriptions.data?.items.find((one) => one.subject === subject);
  const installer = installers.data?.items.find((one) => one.id === key);
  return (
    <p class="line small">
      {subscription && <a href={`/admin/subscriptions/${subscription.id}`}>The subscription</a>}
      {installer && <a href={`/admin/installers/${encodeURIComponent(installer.id)}`}>The installer</a>}
      <code class="quiet subject-key">{key}</code>
    </p>
  );
}
