import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { notify } from '../../parts/toast.tsx';
import { requestPath } from './request-words.ts';

export type Requestable = NonNullable<Answer<'GET /authz/objects/{objectType}/{objID}/explain'>['requestable']>;

const HOUR = 'PT1H';
const SPANS = [
  { value: HOUR, label: 'for an hour', hours: 1 },
  { value: 'PT4H', label: 'for 4 hours', hours: 4 },
  { value: 'PT8H', label: 'for 8 hours', hours: 8 },
  { value: 'P1D', label: 'for a day', hours: 24 },
  { value: 'P3D', label: 'for 3 days', hours: 72 },
  { value: 'P7D', label: 'for 7 days', hours: 168 },
  { value: 'P30D', label: 'for 30 days', hours: 720 },
  { value: 'P90D', label: 'for 90 days', hours: 2160 },
];

export interface AskProps {
  readonly org: string;
  readonly type: string;
  readonly id: string;
  readonly relation: string;
  readonly requestable: Requestable;
}

/** For how long, and why. Leads to the request that was made, or to the open one that asks for the same. */
export function AskForm({ org, type, id, relation, requestable, onDone }: AskProps & { onDone?: () => void }) {
  const { route } = useLocation();
  const spans = spansUpTo(requestable.longest);
  const span = useSignal(spans.find(({ value }) => value === 'PT4H')?.value ?? spans[0]?.value ?? HOUR);
  const reason = useSignal('');
  const isEmergency = useSignal(false);
  const rules = useResource('GET /orgs/{org}/request_rules', { path: { org } });
  // Users who may not see the rules can try.
  const mayBreakGlass = rules.error !== undefined || rules.data?.some(({ break_glass: allows }) => allows) === true;
  const ask = useAction(async () => {
    const body = {
      ...{ relation, object: { type, id: BigInt(id) }, reason: reason.value },
      for: isEmergency.value && !spansUpTo(HOUR).some(({ value }) => value === span.value) ? HOUR : span.value,
      ...(isEmergency.value && { break_glass: true }),
    };
    const made = await api.call('POST /authz/requests', { query: { org }, body });
    notify({ kind: 'ok', text: made.state === 'open' ? 'You have asked for it.' : 'You have access now.' });
    onDone?.();
    route(requestPath(made));
  });
  return (
    <Form action={ask} verb={isEmergency.value ? 'Take access now' : 'Ask for it'} fields={['reason', 'for']}>
      <p class="quiet">{approvalWords(requestable)}</p>
      <SelectField label="How long" value={span} choices={spans} error={ask.fieldError('for')} />
      <TextField
        label="Why"
        value={reason}
        rows={2}
        isRequired
        autoFocus
        maxLength={1000}
        hint="The approvers read it, and the audit log keeps it."
        error={ask.fieldError('reason')}
      />
      {mayBreakGlass && requestable.approvals > 0 && (
        <CheckField
          label="Break glass: this is an emergency"
          hint="If the rules allow it, you get access without an approval, for an hour at most. All owners are told."
          isChecked={isEmergency.value}
          onChange={(isOn) => (isEmergency.value = isOn)}
        />
      )}
    </Form>
  );
}

/** A button that opens the form in a dialog. */
export function AskForIt(props: AskProps) {
  const isOpen = useSignal(false);
  const close = () => (isOpen.value = false);
  return (
    <div>
      <Button kind="main" icon="key" onClick={() => (isOpen.value = true)}>
        Ask for it
      </Button>
      {isOpen.value && (
        <Dialog title="Ask for it" onClose={close}>
          <AskForm {...props} onDone={close} />
        </Dialog>
      )}
    </div>
  );
}

function approvalWords({ approvals, approvers }: Requestable): string {
  if (approvals === 0) return 'You get it immediately: the rules need no approval.';
  const who = approvers === 1 ? '1 user can approve it' : `${approvers} users can approve it`;
  return approvals === 1 ? `${who}.` : `${who}, and ${approvals} must.`;
}

function spansUpTo(longest: string) {
  const [, days = 0, hours = 0, minutes = 0] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?)?/.exec(longest) ?? [];
  const most = Number(days) * 24 + Number(hours) + Number(minutes) / 60;
  const fitting = SPANS.filter((one) => one.hours <= most);
  return fitting.length > 0 ? fitting : [{ value: longest, label: `for ${longest}`, hours: most }];
}
