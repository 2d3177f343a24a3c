import { useSignal } from '@preact/signals';
import { ApiError } from '../../../../client/errors.ts';
import { type Action, useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { me } from '../../data/session.ts';
import { notifyUndoable } from '../../data/undo.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { notify } from '../../parts/toast.tsx';
import type { AccessRequest } from './request-words.ts';

interface ActionsProps {
  readonly request: AccessRequest;
  /** The request became different meanwhile: it has to be shown again. */
  readonly onChanged: () => void;
}

/** What the user can do about a request now. */
export function RequestActions({ request, onChanged }: ActionsProps) {
  const { state, by, approvers, approvers_count: count } = request;
  const isOwn = by.type === 'user' && BigInt(by.id) === me.value?.id;
  const isNamed = approvers.some(({ id }) => BigInt(id) === me.value?.id);
  // Approvers who may not see the members do not see who else can decide. The server knows.
  const canDecide = isNamed || (!isOwn && approvers.length < count);
  const isUnacknowledged = request.break_glass && !request.break_glass.acknowledged_at;
  return (
    <>
      {state === 'open' && canDecide && <Decide request={request} onChanged={onChanged} />}
      {state === 'open' && isOwn && (
        <Verb request={request} verb="cancel" title="Cancel request" done="The request was cancelled." />
      )}
      {state === 'approved' && <End request={request} isOwn={isOwn} />}
      {isUnacknowledged && !isOwn && (
        <Verb
          request={request}
          verb="acknowledge"
          title="Acknowledge"
          done="The use of break glass was acknowledged."
        />
      )}
    </>
  );
}

function Decide({ request, onChanged }: ActionsProps) {
  const { id, digest, organization } = request;
  const comment = useSignal('');
  const isChanged = useSignal(false);
  const at = { path: { id }, query: { org: organization } };
  const said = () => (comment.value.trim() === '' ? {} : { comment: comment.value });
  const approve = useAction(async () => {
    isChanged.value = false;
    try {
      const { state } = await api.call('POST /authz/requests/{id}/approve', { ...at, body: { digest, ...said() } });
      if (state === 'approved') {
        notifyUndoable('The request was approved.', () => api.call('POST /authz/requests/{id}/end', at));
      } else {
        const text = state === 'open' ? 'Approved. It needs more approvals.' : 'The request was approved.';
        notify({ kind: 'ok', text });
      }
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'changed_since') throw error;
      isChanged.value = true;
      onChanged();
    }
  });
  const deny = useAction(async () => {
    await api.call('POST /authz/requests/{id}/deny', { ...at, body: said() });
    notify({ kind: 'ok', text: 'The request was denied.' });
  });
  return (
    <Card title="Decide">
      {isChanged.value && (
        <p class="note warn" role="alert">
          What an approval would do has changed, so nothing was approved. This is what it would do now: look at it
          again.
        </p>
      )}
      <TextField label="Comment" value={comment} rows={2} maxLength={1000} hint="Optional. The requester reads it." />
      <Fault error={approve.error ?? deny.error} />
      <div class="line">
        <Button
          kind="main"
          icon="check"
          isBusy={approve.isRunning}
          busyLabel="Approving"
          onClick={() => void approve.run()}
        >
          Approve
        </Button>
        <Button kind="danger" isBusy={deny.isRunning} busyLabel="Denying" onClick={() => void deny.run()}>
          Deny
        </Button>
        <span class="quiet small">You approve exactly what is shown.</span>
      </div>
    </Card>
  );
}

interface VerbProps {
  readonly request: AccessRequest;
  readonly verb: 'cancel' | 'acknowledge';
  readonly title: string;
  readonly done: string;
}

function Verb({ request: { id, organization: org }, verb, title, done }: VerbProps) {
  const action: Action<[]> = useAction(async () => {
    await api.call(`POST /authz/requests/{id}/${verb}`, { path: { id }, query: { org } });
    notify({ kind: 'ok', text: done });
  });
  return (
    <div class="stack tight">
      <Fault error={action.error} />
      <div>
        <Button isBusy={action.isRunning} onClick={() => void action.run()}>
          {title}
        </Button>
      </div>
    </div>
  );
}

function End({ request: { id, organization: org, by }, isOwn }: { request: AccessRequest; isOwn: boolean }) {
  const isOpen = useSignal(false);
  const title = isOwn ? 'Give back' : 'End access';
  return (
    <div>
      <Button kind={isOwn ? 'plain' : 'danger'} onClick={() => (isOpen.value = true)}>
        {title}
      </Button>
      {isOpen.value && (
        <Confirm
          title={isOwn ? 'Give the access back?' : `End the access of ${by.name}?`}
          verb={title}
          done="The access has ended."
          change={() => api.call('POST /authz/requests/{id}/end', { path: { id }, query: { org } })}
          onClose={() => (isOpen.value = false)}
        >
          <p>It ends immediately. It can be requested again.</p>
        </Confirm>
      )}
    </div>
  );
}
