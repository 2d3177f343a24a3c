import { useSignal } from '@preact/signals';
import type { Answer } from '../../../../client/client.ts';
import { titleOf } from '../../../../client/object-kinds.ts';
import { nameOfRelation } from '../../../../client/permissions.ts';
import { type Action, useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { askedName } from '../../data/principal.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { TextField } from '../../parts/field.tsx';
import { Show } from '../../parts/page.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';
import type { FullReview } from './review-words.ts';
import { whatIs } from './review-words.ts';

type Item = Answer<'GET /authz/reviews/{id}/items/{item}'>;
type Impact = NonNullable<Item['impact']>;
type Effect = Impact['unattended'][number];

const SHOWN = 8;

interface Props {
  readonly org: string;
  readonly review: FullReview;
  readonly item: string;
}

/** Why the access is there, what ending it changes, and the decision. */
export function ReviewItemCard({ org, review, item }: Props) {
  const found = useResource('GET /authz/reviews/{id}/items/{item}', {
    path: { id: review.id, item },
    query: { org },
  });
  return (
    <Card title="Item">
      <Show of={found}>
        {(one) => (
          <div class="stack">
            <p class="strong">
              <bdi>{askedName(one.principal)}</bdi>: <bdi>{whatIs(one)}</bdi>
            </p>
            <p>
              <bdi>{one.sentence}</bdi>
            </p>
            {one.impact && <Losses impact={one.impact} />}
            {one.cannot_end && one.present && review.state === 'open' && (
              <p class="note warn">
                You cannot end it: <bdi>{one.cannot_end.message}</bdi>
              </p>
            )}
            {one.rejection && (
              <p class="note warn">
                It could not be ended: <bdi>{one.rejection.message}</bdi>
              </p>
            )}
            {one.decided_at && (
              <p class="small">
                {one.state} by <bdi>{one.decided_by?.name ?? 'the review'}</bdi> <When at={one.decided_at} />
                {one.comment !== '' && (
                  <>
                    {': '}
                    <bdi>{one.comment}</bdi>
                  </>
                )}
              </p>
            )}
            {review.state === 'open' && (one.state === 'open' || one.state === 'kept') && (
              <Decide org={org} review={review} item={one} />
            )}
          </div>
        )}
      </Show>
    </Card>
  );
}

function Decide({
  org,
  review: { id },
  item: { id: item, state, cannot_end: cannotEnd },
}: {
  org: string;
  review: FullReview;
  item: Item;
}) {
  const comment = useSignal('');
  const at = { path: { id, item }, query: { org } };
  const body = () => (comment.value.trim() === '' ? {} : { comment: comment.value.trim() });
  const keep: Action<[]> = useAction(async () => {
    await api.call('POST /authz/reviews/{id}/items/{item}/keep', { ...at, body: body() });
    notify({ kind: 'ok', text: 'The access stays.' });
  });
  const end: Action<[]> = useAction(async () => {
    await api.call('POST /authz/reviews/{id}/items/{item}/end', { ...at, body: body() });
    notify({ kind: 'ok', text: 'The access has ended.' });
  });
  return (
    <>
      <TextField label="Comment" value={comment} rows={2} maxLength={1000} hint="Optional. The record keeps it." />
      <Fault error={keep.error ?? end.error} />
      <div class="line">
        {state === 'open' && (
          <Button kind="main" icon="check" isBusy={keep.isRunning} onClick={() => void keep.run()}>
            Keep
          </Button>
        )}
        <Button
          kind="danger"
          isBusy={end.isRunning}
          busyLabel="Ending"
          disabledBecause={cannotEnd?.message}
          onClick={() => void end.run()}
        >
          End
        </Button>
      </div>
    </>
  );
}

function Losses({ impact: { users, total, unattended } }: { impact: Impact }) {
  if (total === 0) return <p class="quiet">Ending it changes nothing else.</p>;
  return (
    <div class="stack tight">
      <h3>If it ends</h3>
      <ul class="bullets">
        {users.map(({ user, loses, more }) => (
          <li key={`${user.type}:${user.id}`}>
            <bdi class="strong">{askedName(user)}</bdi> loses {words(loses.slice(0, SHOWN))}
            {loses.length + more > SHOWN && ` and ${loses.length + more - SHOWN} more`}
          </li>
        ))}
        {total > users.length && <li>{total - users.length} more users or robots</li>}
      </ul>
      {unattended.length > 0 && (
        <p class="note warn">No user could do this any more: {words(unattended.slice(0, SHOWN))}</p>
      )}
    </div>
  );
}

function words(effects: readonly Effect[]): string {
  return effects
    .map(({ object, relation }) => `${nameOfRelation(object.type, relation)} (${titleOf(object.type)} ${object.name})`)
    .join(', ');
}
