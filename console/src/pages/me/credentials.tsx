import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { CredentialForm } from './credential-form.tsx';
import { type CredentialSummary, cloudOf, kindOf } from './credential-kinds.ts';
import { CredentialTest } from './credential-test.tsx';
import { MePage } from './me-page.tsx';

export type CredentialAct = 'replace' | 'test' | 'delete';

type Opened = { readonly what: 'new' } | { readonly what: CredentialAct; readonly one: CredentialSummary };

export function credentialPath(name: string): string {
  return `/me/credentials/${encodeURIComponent(name)}`;
}

export function CredentialsPage() {
  const credentials = useResource('GET /user/credentials', { query: { summary: 'true' } });
  const opened = useSignal<Opened | undefined>(undefined);
  const close = () => (opened.value = undefined);
  const create = (
    <Button kind="main" icon="plus" onClick={() => (opened.value = { what: 'new' })}>
      New credential
    </Button>
  );
  const { value } = opened;
  return (
    <MePage
      title="Cloud credentials"
      lead="Keys to your clouds, sealed on the server. This page never loads the secrets in them."
      isStale={credentials.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={credentials}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="You keep no cloud credentials here. Programs that act for you can use them, for example to list buckets."
              action={create}
              command="atrium credential add --file aws.yaml"
            />
          ) : (
            <Table
              caption="Cloud credentials"
              rows={all as unknown as readonly CredentialSummary[]}
              keyOf={(one) => one.name}
              hrefOf={(one) => credentialPath(one.name)}
              columns={[
                { key: 'name', title: 'Name', cell: (one) => <bdi class="strong">{one.name}</bdi> },
                {
                  key: 'type',
                  title: 'Type',
                  cell: (one) => one.type && <Chip>{kindOf(one.type)?.title ?? one.type}</Chip>,
                  isMinor: true,
                },
                { key: 'created', title: 'Created', cell: (one) => <When at={one.creationTimestamp} />, isMinor: true },
                { key: 'updated', title: 'Replaced', cell: (one) => <Replaced one={one} />, isMinor: true },
                {
                  key: 'actions',
                  title: '',
                  isNumber: true,
                  cell: (one) => <CredentialActions one={one} onOpen={(what) => (opened.value = { what, one })} />,
                },
              ]}
            />
          )
        }
      </Show>
      {value?.what === 'new' && <CredentialForm onClose={close} />}
      {value !== undefined && value.what !== 'new' && <CredentialDialog {...value} onClose={close} />}
    </MePage>
  );
}

export function Replaced({ one }: { one: CredentialSummary }) {
  return one.updatedAt === one.creationTimestamp ? <span class="quiet">never</span> : <When at={one.updatedAt} />;
}

interface CredentialDialogProps {
  readonly what: CredentialAct;
  readonly one: CredentialSummary;
  readonly onClose: () => void;
  readonly onDeleted?: () => void;
}

export function CredentialDialog({ what, one, onClose, onDeleted }: CredentialDialogProps) {
  if (what === 'replace') return <CredentialForm replaced={one} onClose={onClose} />;
  if (what === 'test') return <CredentialTest credential={one} onClose={onClose} />;
  return (
    <Confirm
      title={`Delete the credential ${one.name}?`}
      verb="Delete credential"
      done={`The credential ${one.name} was deleted.`}
      change={() => api.call('DELETE /user/credentials/{credName}', { path: { credName: one.name } })}
      onClose={onClose}
      onDone={onDeleted}
    >
      <p>The key itself stays valid in the cloud. It is deleted here. This cannot be undone.</p>
    </Confirm>
  );
}

interface CredentialActionsProps {
  readonly one: CredentialSummary;
  readonly onOpen: (what: CredentialAct) => void;
}

export function CredentialActions({ one, onOpen }: CredentialActionsProps) {
  const canTest = cloudOf(one.type) !== undefined;
  return (
    <span class="line end credential-actions">
      <Button
        label={`Test ${one.name}`}
        disabledBecause={canTest ? undefined : 'Only credentials of storage services can be tested.'}
        onClick={() => onOpen('test')}
      >
        Test
      </Button>
      <Button label={`Replace ${one.name}`} onClick={() => onOpen('replace')}>
        Replace
      </Button>
      <Button label={`Delete ${one.name}`} onClick={() => onOpen('delete')}>
        Delete
      </Button>
    </span>
  );
}
