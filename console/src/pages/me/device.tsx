import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Page } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';

type Waiting = Answer<'GET /user/device/{code}'>;

/** A program shows a code, and the signed-in user lets it act for them. */
export function DevicePage() {
  const { query } = useLocation();
  const code = useSignal(query.code ?? '');
  const found = useSignal<Waiting | undefined>(undefined);
  const done = useSignal<string | undefined>(undefined);
  const look = useAction(async () => {
    found.value = await api.call('GET /user/device/{code}', { path: { code: code.value.trim() } });
  });
  const decide = useAction(async (approve: boolean) => {
    const path = { code: found.value?.user_code ?? '' };
    await api.call('POST /user/device/{code}', { path, body: { approve } });
    done.value = approve ? 'The program is signed in. You can close this page.' : 'The program was denied.';
  });
  return (
    <Page title="Approve a device" lead="For programs that cannot show a browser, such as the command line.">
      {done.value !== undefined ? (
        <p class="note" role="status">
          {done.value}
        </p>
      ) : found.value === undefined ? (
        <Form action={look} verb="Continue">
          <TextField
            label="Code"
            value={code}
            isRequired
            autoFocus
            isMono
            autoComplete="off"
            hint="The program shows it. Only enter a code that you have asked for yourself."
          />
        </Form>
      ) : (
        <Card title="Let this program act for you?">
          <div class="stack">
            <Facts
              of={[
                { name: 'Program', value: <bdi>{found.value.name}</bdi> },
                { name: 'Code', value: <code>{found.value.user_code}</code> },
                { name: 'It may', value: found.value.scopes.join(', ') },
                { name: 'Expires', value: <When at={found.value.expires_at} /> },
              ]}
            />
            <p class="note warn">Compare the code with the one that the program shows. It gets a token of yours.</p>
            <Fault error={decide.error} />
            <div class="line">
              <Button kind="main" isBusy={decide.isRunning} onClick={() => void decide.run(true)}>
                Approve
              </Button>
              <Button onClick={() => void decide.run(false)}>Deny</Button>
            </div>
          </div>
        </Card>
      )}
    </Page>
  );
}
