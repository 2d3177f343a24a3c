import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { Card, Chip, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { When } from '../../parts/when.tsx';

type Provider = Answer<'GET /admin/providers/{provider}'>;
type Test = Answer<'POST /admin/providers/{provider}/test'>;

const TONES = { ok: 'ok', failed: 'bad', unknown: 'warn' } as const;

/** Whether the provider can be used, and what it did last. */
export function ProviderHealth({ provider }: { provider: Provider }) {
  const result = useSignal<Test | undefined>(undefined);
  const test = useAction(async () => {
    result.value = await api.call('POST /admin/providers/{provider}/test', { path: { provider: provider.name } });
  });
  return (
    <Card
      title="Does it work?"
      actions={
        <Button isBusy={test.isRunning} busyLabel="Testing" onClick={() => void test.run()}>
          Test this provider
        </Button>
      }
    >
      <Facts
        of={[
          {
            name: 'Last logout notice',
            value: provider.last_logout_notice_at === null ? 'none yet' : <When at={provider.last_logout_notice_at} />,
          },
          {
            name: 'Last error',
            value:
              provider.last_fault_at === null ? (
                'none'
              ) : (
                <span>
                  <When at={provider.last_fault_at} />: {provider.last_fault}
                </span>
              ),
          },
        ]}
      />
      <Fault error={test.error} />
      {result.value && (
        <ul class="stack tight" aria-label="Result of the test">
          {result.value.steps.map(({ step, result: outcome, message }) => (
            <li key={step} class="line">
              <Chip tone={TONES[outcome]}>{`${step}: ${outcome}`}</Chip>
              <span>{message}</span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
