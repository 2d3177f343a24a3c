import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { AddApp } from '../factors/add-app.tsx';
import { AddPasskey } from '../factors/add-passkey.tsx';
import { RecoveryCodes } from '../factors/recovery-codes.tsx';
import { RenamePasskey } from '../factors/rename-passkey.tsx';
import { MePage } from './me-page.tsx';

type Factors = Answer<'GET /user/factors'>;
type Passkey = Factors['passkeys'][number];
type Open =
  | { readonly what: 'passkey' | 'app' | 'codes' | 'remove app' }
  | { readonly what: 'rename' | 'remove'; readonly passkey: Passkey };

export function SecurityPage() {
  const factors = useResource('GET /user/factors', {});
  const open = useSignal<Open | undefined>(undefined);
  const codes = useSignal<readonly string[] | undefined>(undefined);
  const close = () => (open.value = undefined);
  const shown = open.value;
  return (
    <MePage
      title="Second factors"
      lead="With a second factor, a stolen password is not enough to sign in as you."
      isStale={factors.isStale}
    >
      <Show of={factors}>
        {(found) => (
          <div class="stack wide">
            <Passkeys factors={found} onOpen={(next) => (open.value = next)} />
            <App factors={found} onOpen={(next) => (open.value = next)} />
            <Codes factors={found} onOpen={(next) => (open.value = next)} />
          </div>
        )}
      </Show>
      {shown?.what === 'passkey' && <AddPasskey onClose={close} onCodes={(given) => (codes.value = given)} />}
      {shown?.what === 'app' && <AddApp onClose={close} onCodes={(given) => (codes.value = given)} />}
      {shown?.what === 'rename' && <RenamePasskey passkey={shown.passkey} onClose={close} />}
      {shown?.what === 'remove' && (
        <Confirm
          title={`Remove the passkey ${shown.passkey.name}?`}
          verb="Remove passkey"
          done={`The passkey ${shown.passkey.name} was removed.`}
          change={() => api.call('DELETE /user/factors/passkeys/{id}', { path: { id: shown.passkey.id } })}
          onClose={close}
        >
          <p>It does not sign you in any more. Your device may go on to offer it, until you delete it there too.</p>
        </Confirm>
      )}
      {shown?.what === 'remove app' && (
        <Confirm
          title="Remove the authenticator app?"
          verb="Remove app"
          done="The authenticator app was removed."
          change={() => api.call('DELETE /user/factors/totp')}
          onClose={close}
        >
          <p>The codes that it shows stop working.</p>
        </Confirm>
      )}
      {shown?.what === 'codes' && (
        <Confirm
          title="Get new recovery codes?"
          verb="Get new codes"
          done="The recovery codes were replaced."
          change={async () => {
            const made = await api.call('POST /user/factors/recovery_codes');
            codes.value = made.recovery_codes;
          }}
          onClose={close}
        >
          <p>The codes that you have now stop working.</p>
        </Confirm>
      )}
      {codes.value && <RecoveryCodes codes={codes.value} onClose={() => (codes.value = undefined)} />}
    </MePage>
  );
}

interface PartProps {
  readonly factors: Factors;
  readonly onOpen: (next: Open) => void;
}

function Passkeys({ factors, onOpen }: PartProps) {
  const { passkeys } = factors;
  return (
    <Card
      title="Passkeys"
      actions={
        <Button icon="plus" disabledBecause={whyNoPasskey(factors)} onClick={() => onOpen({ what: 'passkey' })}>
          Add passkey
        </Button>
      }
    >
      <p class="quiet">
        A passkey is in your phone, your computer or a security key. You unlock it with a finger, your face or a PIN.
      </p>
      {passkeys.length > 0 && (
        <Table
          caption="Passkeys"
          rows={passkeys}
          keyOf={(passkey) => String(passkey.id)}
          columns={[
            {
              key: 'name',
              title: 'Name',
              cell: (passkey) => (
                <span class="line">
                  <bdi class="strong">{passkey.name}</bdi>
                  {passkey.synced && <Chip>synchronized</Chip>}
                </span>
              ),
            },
            { key: 'used', title: 'Last used', cell: (passkey) => <Used at={passkey.last_used_at} /> },
            { key: 'created', title: 'Added', cell: (passkey) => <When at={passkey.created_at} />, isMinor: true },
            {
              key: 'change',
              title: '',
              isNumber: true,
              cell: (passkey) => (
                <span class="line end">
                  <Button label={`Rename ${passkey.name}`} onClick={() => onOpen({ what: 'rename', passkey })}>
                    Rename
                  </Button>
                  <Button
                    label={`Remove ${passkey.name}`}
                    disabledBecause={whyKept(factors)}
                    onClick={() => onOpen({ what: 'remove', passkey })}
                  >
                    Remove
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}

function App({ factors, onOpen }: PartProps) {
  const { totp } = factors;
  return (
    <Card
      title="Authenticator app"
      actions={
        <span class="line">
          <Button icon={totp ? undefined : 'plus'} onClick={() => onOpen({ what: 'app' })}>
            {totp ? 'Replace app' : 'Add app'}
          </Button>
          {totp && (
            <Button disabledBecause={whyKept(factors)} onClick={() => onOpen({ what: 'remove app' })}>
              Remove app
            </Button>
          )}
        </span>
      }
    >
      <p class="quiet">An app on your phone that shows a new code every 30 seconds.</p>
      {totp && (
        <p>
          Added <When at={totp.created_at} />, last used <Used at={totp.last_used_at} />.
        </p>
      )}
    </Card>
  );
}

function Codes({ factors: { recovery_codes: codes }, onOpen }: PartProps) {
  return (
    <Card
      title="Recovery codes"
      actions={codes && <Button onClick={() => onOpen({ what: 'codes' })}>Get new codes</Button>}
    >
      {codes ? (
        <p>
          You have {codes.left} of 10 left. Each works once, instead of a second factor. They were created{' '}
          <When at={codes.created_at} />.
        </p>
      ) : (
        <p class="quiet">You get ten of them with your first second factor, for when you lose it.</p>
      )}
    </Card>
  );
}

function Used({ at }: { at: string | null }) {
  return at === null ? <span class="quiet">never</span> : <When at={at} />;
}

function whyNoPasskey({ passkeys_available: isAvailable }: Factors): string | undefined {
  if (!isAvailable) return 'This server has no HTTPS address with a host name.';
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  if (isAddress) return 'Browsers have no passkeys for an address. Open this page under its host name, or localhost.';
  return 'PublicKeyCredential' in window ? undefined : 'This browser has no passkeys.';
}

function whyKept({ required, passkeys, totp }: Factors): string | undefined {
  const isLast = passkeys.length + (totp ? 1 : 0) === 1;
  return required && isLast ? 'A second factor is required. Add another one first.' : undefined;
}
