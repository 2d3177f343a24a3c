import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { useVersion } from '../../data/version.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import { AdminOnly } from '../admin/admin-only.tsx';
import { StateMark } from '../marketplace/state-mark.tsx';
import { WebhookDeliveries } from './webhook-deliveries.tsx';
import { FIELDS, WebhookFields } from './webhook-fields.tsx';
import { callsOf, type Place, usePlace, useWebhook, type Webhook } from './webhook-place.ts';
import { WebhookSecret } from './webhook-secret.tsx';
import { answerInWords, disabledWhy, stateOf, typesIn } from './webhook-words.ts';

export function WebhookPage() {
  const place = usePlace();
  if (place.org !== undefined) return <Loaded place={place} />;
  return (
    <AdminOnly title="Webhook">
      <Loaded place={place} />
    </AdminOnly>
  );
}

function Loaded({ place }: { place: Place }) {
  const { id = '' } = useRoute().params;
  const webhook = useWebhook(place.org, id);
  return (
    <ShowPage title="Webhook" within={place.within} of={webhook} whyNot={place.question}>
      {(found) => <Details key={id} place={place} webhook={found} etag={webhook.etag} isStale={webhook.isStale} />}
    </ShowPage>
  );
}

interface DetailsProps {
  readonly place: Place;
  readonly webhook: Webhook;
  readonly etag: string | undefined;
  readonly isStale: boolean;
}

function Details({ place, webhook, etag, isStale }: DetailsProps) {
  const { org, within, path } = place;
  const { id, name, active } = webhook;
  const { route } = useLocation();
  const dialog = useSignal<'edit' | 'pause' | 'rotate' | 'delete' | undefined>(undefined);
  const shown = useSignal<Webhook | undefined>(undefined);
  const calls = callsOf(org, id);
  const close = () => (dialog.value = undefined);
  const whyNot = place.whyNot('change webhooks');
  const activate = useAction(async () => {
    await calls.update({ active: true });
    notify({ kind: 'ok', text: 'The webhook is active. It sends what happens from now on.' });
  });
  return (
    <Page
      title={name}
      within={within}
      lead={webhook.url}
      isStale={isStale}
      actions={
        <>
          {active ? (
            <Button whyNot={whyNot} onClick={() => (dialog.value = 'pause')}>
              Pause
            </Button>
          ) : (
            <Button kind="main" whyNot={whyNot} isBusy={activate.isRunning} onClick={() => void activate.run()}>
              Activate
            </Button>
          )}
          <span data-key="e">
            <Button whyNot={whyNot} onClick={() => (dialog.value = 'edit')}>
              Edit webhook
            </Button>
          </span>
          <Button whyNot={whyNot} onClick={() => (dialog.value = 'rotate')}>
            Rotate secret
          </Button>
          <Button kind="danger" whyNot={whyNot} onClick={() => (dialog.value = 'delete')}>
            Delete webhook
          </Button>
        </>
      }
    >
      <Fault error={activate.error} />
      <State webhook={webhook} />
      <Test place={place} id={id} />
      <WebhookDeliveries place={place} webhook={webhook} />
      {dialog.value === 'edit' && <EditWebhook org={org} webhook={webhook} etag={etag} onClose={close} />}
      {dialog.value === 'pause' && (
        <Confirm
          title="Pause the webhook?"
          verb="Pause webhook"
          kind="main"
          done="The webhook is paused."
          change={() => calls.update({ active: false })}
          onClose={close}
        >
          <p>Nothing is sent while it is paused. Afterwards you can send what it missed.</p>
        </Confirm>
      )}
      {dialog.value === 'rotate' && (
        <Confirm
          title="Rotate the secret?"
          verb="Rotate secret"
          kind="main"
          done="The webhook has a new secret."
          change={async () => {
            shown.value = await calls.update({ secret: null });
          }}
          onClose={close}
        >
          <p>The new one is shown once. For a day, messages have the signatures of both.</p>
        </Confirm>
      )}
      {shown.value && <WebhookSecret webhook={shown.value} onClose={() => (shown.value = undefined)} />}
      {dialog.value === 'delete' && (
        <Confirm
          title={`Delete the webhook ${name}?`}
          verb="Delete webhook"
          typedName={name}
          done="The webhook was deleted."
          change={() => calls.remove()}
          onClose={close}
          onDone={() => route(path())}
        >
          <p>What waits is not sent, and the list of its deliveries goes with it. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** Which events it sends. */
function sentEvents(types: readonly string[]) {
  return types.includes('*') ? 'all events' : <code>{types.join(', ')}</code>;
}

function State({ webhook }: { webhook: Webhook }) {
  const { disabled_reason: why, created_by: by } = webhook;
  return (
    <Card>
      <StateMark words={stateOf(webhook)} />
      {why !== null && (
        <p class="note warn">
          {disabledWhy(why)} Disabled <When at={webhook.disabled_at} />. Once the receiver works again, activate the
          webhook, and send what it missed.
        </p>
      )}
      <Facts
        of={[
          { name: 'URL', value: <bdi>{webhook.url}</bdi> },
          { name: 'Events', value: sentEvents(webhook.types) },
          { name: 'Format', value: webhook.format === 'cloudevents' ? 'CloudEvents' : 'Standard Webhooks' },
          { name: 'Sends what this user can see', value: <bdi>{by.name}</bdi> },
          { name: 'Created', value: <When at={webhook.created_at} /> },
          { name: 'Last delivery', value: <When at={webhook.last_delivery_at} /> },
        ]}
      />
    </Card>
  );
}

function Test({ place, id }: { place: Place; id: bigint }) {
  const result = useSignal<{ readonly ok: boolean; readonly text: string } | undefined>(undefined);
  const test = useAction(async () => {
    result.value = undefined;
    const answer = await callsOf(place.org, id).test();
    const took = `in ${answer.duration_ms} ms`;
    result.value = {
      ok: answer.ok,
      text: `${answer.ok ? 'Accepted' : 'Not accepted'}: ${answerInWords(answer)}, ${took}.`,
    };
  });
  return (
    <Card
      title="Test"
      actions={
        <Button
          whyNot={place.whyNot('test webhooks')}
          isBusy={test.isRunning}
          busyLabel="Sending"
          onClick={() => void test.run()}
        >
          Send a test
        </Button>
      }
    >
      <p class="quiet">Sends a message of the type webhook.test now, even if the webhook is paused.</p>
      {result.value && (
        <p role="status" class={`note ${result.value.ok ? 'ok' : 'warn'}`}>
          {result.value.text}
        </p>
      )}
      <Fault error={test.error} />
    </Card>
  );
}

interface EditProps {
  readonly org: string | undefined;
  readonly webhook: Webhook;
  readonly etag: string | undefined;
  readonly onClose: () => void;
}

function EditWebhook({ org, webhook, etag, onClose }: EditProps) {
  const name = useSignal(webhook.name);
  const url = useSignal(webhook.url);
  const types = useSignal(webhook.types.join(', '));
  const format = useSignal<string>(webhook.format);
  const version = useVersion(etag);
  const save = useAction(async () => {
    const body = {
      name: name.value.trim(),
      url: url.value.trim(),
      types: typesIn(types.value),
      format: format.value as 'standard',
    };
    await version.save((ifMatch) => callsOf(org, webhook.id).update(body, ifMatch));
    notify({ kind: 'ok', text: 'The webhook was saved.' });
  });
  return (
    <FormDialog title="Edit the webhook" verb="Save webhook" action={save} fields={FIELDS} onClose={onClose}>
      <WebhookFields name={name} isNamed url={url} types={types} format={format} action={save} />
      <p class="quiet small">From then on it hears what you may see.</p>
    </FormDialog>
  );
}
