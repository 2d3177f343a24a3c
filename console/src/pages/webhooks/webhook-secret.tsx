import { ShownSecret } from '../../parts/secret.tsx';
import type { Webhook } from './webhook-place.ts';

/** What the server tells only after the secret was set. */
export function WebhookSecret({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  return (
    <ShownSecret
      title="The secret of the webhook"
      secret={webhook.secret ?? ''}
      copyLabel="Copy the secret"
      commands={[
        {
          title: 'Public keys, for a receiver that shares no secret',
          text: `curl ${location.origin}/.well-known/webhook-keys`,
        },
      ]}
      onClose={onClose}
    />
  );
}
