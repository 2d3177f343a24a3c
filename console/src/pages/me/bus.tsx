import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { me } from '../../data/session.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { CodeBlock, Copy } from '../../parts/copy.tsx';
import { Fault } from '../../parts/fault.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';

type Credentials = Answer<'GET /user/bus/credentials'>;

const FILE = 'atrium.creds';

/** Credentials are issued only on request: the holder of the file can read everything that its user may read. */
export function BusPage() {
  const issued = useSignal<Credentials | undefined>(undefined);
  const get = useAction(async () => {
    issued.value = await api.call('GET /user/bus/credentials');
  });
  return (
    <MePage
      title="Message bus"
      lead="Clusters report over NATS. With credentials of your own, you hear what concerns you."
    >
      <Card title="Credentials">
        <p>They expire soon, and stop working when your account is closed. Keep the file as you keep a password.</p>
        <Fault error={get.error} onRetry={() => void get.run()} />
        {issued.value === undefined ? (
          <div class="line">
            <Button kind="main" isBusy={get.isRunning} busyLabel="Getting credentials" onClick={() => void get.run()}>
              Get credentials
            </Button>
          </div>
        ) : (
          <Issued credentials={issued.value} />
        )}
      </Card>
    </MePage>
  );
}

function Issued({ credentials }: { credentials: Credentials }) {
  const id = String(me.value?.id ?? '');
  const file = atob(credentials.credentials);
  const server = credentials.busEndpoints[0] ?? 'nats://BUS:4222';
  const command = `nats --server ${server} --creds ${FILE} --inbox-prefix _INBOX.${id} sub "user.${id}.>"`;
  return (
    <div class="stack">
      <div class="stack tight">
        <h3>Addresses of the bus</h3>
        {credentials.busEndpoints.length === 0 && <p class="quiet">The server does not say where its bus is.</p>}
        <ul class="stack tight">
          {credentials.busEndpoints.map((endpoint) => (
            <li key={endpoint}>
              <Copy text={endpoint} label={`Copy ${endpoint}`} />
            </li>
          ))}
        </ul>
      </div>
      <div class="line">
        <Button kind="main" icon="installers" onClick={() => save(file)}>
          Download credentials
        </Button>
        <span class="quiet">
          They expire <When at={expiryIn(file)} never="never" />.
        </span>
      </div>
      <div class="stack tight">
        <h3>Try it</h3>
        <CodeBlock text={command} />
      </div>
    </div>
  );
}

/** The file contains a signed token, whose middle part says when it expires. */
function expiryIn(file: string): string | null {
  try {
    const payload = /^[\w-]+\.([\w-]+)\./m.exec(file)?.[1] ?? '';
    const { exp } = JSON.parse(atob(payload.replaceAll('-', '+').replaceAll('_', '/'))) as { exp?: number };
    return exp === undefined ? null : new Date(exp * 1000).toISOString();
  } catch {
    return null;
  }
}

/** Hands a text to the browser as a file. */
function save(text: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'application/octet-stream' }));
  link.download = FILE;
  link.click();
  URL.revokeObjectURL(link.href);
}
