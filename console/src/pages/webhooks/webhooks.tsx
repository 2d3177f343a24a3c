import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { AdminOnly } from '../admin/admin-only.tsx';
import { StateMark } from '../marketplace/state-mark.tsx';
import { FIELDS, WebhookFields } from './webhook-fields.tsx';
import { createWebhook, type Place, usePlace, useWebhooks, type Webhook } from './webhook-place.ts';
import { WebhookSecret } from './webhook-secret.tsx';
import { receiverOf, stateOf, typesIn } from './webhook-words.ts';

/** Those of an organization, or of the deployment. */
export function WebhooksPage() {
  const place = usePlace();
  if (place.org !== undefined) return <Webhooks place={place} />;
  return (
    <AdminOnly title="Webhooks">
      <Webhooks place={place} />
    </AdminOnly>
  );
}

function Webhooks({ place }: { place: Place }) {
  const { org, within, path, question, whyNot } = place;
  const { route } = useLocation();
  const webhooks = useWebhooks(org);
  const isCreating = useSignal(false);
  const created = useSignal<Webhook | undefined>(undefined);
  const add = (
    <Button kind="main" icon="plus" whyNot={whyNot('create webhooks')} onClick={() => (isCreating.value = true)}>
      New webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      within={within}
      lead={
        org === undefined
          ? 'They send other systems what changes in any organization, and in accounts.'
          : 'They send other systems what changes in the organization.'
      }
      isStale={webhooks.isStale}
      actions={<span data-key="n">{add}</span>}
    >
      <Show of={webhooks} whyNot={question}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no webhooks. One could tell a chat or a SIEM who joined a team."
              action={add}
              command={`atrium webhook create URL ${org === undefined ? '--site' : `--org ${org}`}`}
            />
          ) : (
            <Table
              caption="Webhooks"
              rows={all}
              keyOf={({ id }) => String(id)}
              hrefOf={({ id }) => path(id)}
              columns={[
                { key: 'name', title: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
                { key: 'url', title: 'Receiver', cell: ({ url }) => <bdi>{receiverOf(url)}</bdi>, isMinor: true },
                { key: 'state', title: 'State', cell: (one) => <StateMark words={stateOf(one)} /> },
                {
                  key: 'types',
                  title: 'Events',
                  cell: ({ types }) => (types.includes('*') ? 'all' : <code>{types.join(', ')}</code>),
                  isMinor: true,
                },
                {
                  key: 'by',
                  title: 'Created by',
                  cell: ({ created_by: by }) => <bdi>{by.name}</bdi>,
                  isMinor: true,
                },
                {
                  key: 'last',
                  title: 'Last delivery',
                  cell: ({ last_delivery_at: at }) => <When at={at} />,
                  isMinor: true,
                },
              ]}
            />
          )
        }
      </Show>
      {isCreating.value && (
        <NewWebhook
          org={org}
          onClose={() => (isCreating.value = false)}
          onCreated={(webhook) => (created.value = webhook)}
        />
      )}
      {created.value && (
        <WebhookSecret
          webhook={created.value}
          onClose={() => {
            const { id } = created.value ?? {};
            created.value = undefined;
            route(path(id));
          }}
        />
      )}
    </Page>
  );
}

interface NewWebhookProps {
  readonly org: string | undefined;
  readonly onClose: () => void;
  readonly onCreated: (webhook: Webhook) => void;
}

function NewWebhook({ org, onClose, onCreated }: NewWebhookProps) {
  const name = useSignal('');
  const url = useSignal('');
  const types = useSignal('*');
  const format = useSignal('standard');
  const secret = useSignal('');
  const create = useAction(async () => {
    const body = {
      ...(name.value.trim() !== '' && { name: name.value.trim() }),
      url: url.value.trim(),
      types: typesIn(types.value),
      format: format.value as 'standard',
      ...(secret.value !== '' && { secret: secret.value }),
    };
    const webhook = await createWebhook(org, body);
    secret.value = '';
    onCreated(webhook);
  });
  return (
    <FormDialog title="New webhook" verb="Create webhook" action={create} fields={FIELDS} onClose={onClose}>
      <WebhookFields name={name} isNamed={false} url={url} types={types} format={format} action={create} />
      <TextField
        label="Secret"
        type="password"
        value={secret}
        autoComplete="off"
        hint="Optional: whsec_ and base64. Without it, one is generated. It is stored sealed."
        error={create.fieldError('secret')}
      />
      <p class="quiet small">It hears what you may see, for as long as you may see it.</p>
    </FormDialog>
  );
}
