import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer, Input } from '../../../client/client.ts';
import { ApiError } from '../../../client/errors.ts';
import { titleOf } from '../../../client/object-kinds.ts';
import { nameOfAction, nameOfRelation } from '../../../client/permissions.ts';
import { api } from '../data/api.ts';
import { principalKey } from '../data/principal.ts';
import { Card } from './bits.tsx';
import { Fault } from './fault.tsx';
import { MarkedName } from './marked-name.tsx';
import { When } from './when.tsx';
import './impact.css';

type Report = Answer<'POST /authz/preview'>;
/** Who gains and loses what, of a preview or of an access request. */
export type ImpactUsers = Pick<Report, 'users' | 'total'>;
type Effect = Report['unattended'][number];
type Kept = Report['users'][number]['keeps'][number];
export type PlannedChange = Exclude<Input<'POST /authz/preview'>['body'], { readonly type: string }>['changes'][number];

const DEBOUNCE_MS = 200;
const SHOWN_PEOPLE = 20;
const SHOWN_EFFECTS = 8;
/** Which change and which of its fields a message is about. */
const CHANGE = /^changes\[\d+\][\w.]*: /;
const KINDS = {
  gain: { sign: '+', verb: 'gains' },
  loss: { sign: '−', verb: 'loses' },
  kept: { sign: '~', verb: 'keeps' },
} as const;

interface ImpactProps {
  readonly org: string;
  /** What would be changed; undefined while there is nothing to ask about. */
  readonly changes: readonly PlannedChange[] | undefined;
  /** What to say then. */
  readonly hint?: string | undefined;
  /** Why nothing would change for any user, if nothing would. */
  readonly unchanged?: string | undefined;
}

/** Who gains and who loses what, and what no member could do any more, asked of the server before anything is saved. */
export function Impact({ org, changes, hint, unchanged }: ImpactProps) {
  const report = useSignal<Report | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const key = JSON.stringify(changes, (_name, value) => (typeof value === 'bigint' ? String(value) : value));
  useEffect(() => {
    report.value = undefined;
    error.value = undefined;
    if (!changes) return;
    const controller = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const { signal } = controller;
        report.value = await api.call('POST /authz/preview', { query: { org }, body: { changes }, signal });
      } catch (fault) {
        if (!controller.signal.aborted) error.value = fault;
      }
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [key, org]);
  return (
    <Card title="Impact">
      <div role="status">
        <Words
          report={report.value}
          error={error.value}
          isAsked={changes !== undefined}
          hint={hint}
          unchanged={unchanged}
        />
      </div>
    </Card>
  );
}

interface WordsProps {
  readonly report: Report | undefined;
  readonly error: unknown;
  readonly isAsked: boolean;
  readonly hint: string | undefined;
  readonly unchanged: string | undefined;
}

function Words({ report, error, isAsked, hint, unchanged }: WordsProps) {
  if (!isAsked) return <p class="quiet">{hint ?? 'Change something, and this shows who gains and who loses.'}</p>;
  // A name is being typed.
  if (error instanceof ApiError && error.reason === 'user_not_found')
    return <p class="quiet">No user has this name.</p>;
  // The field says it when one saves.
  if (error instanceof ApiError && error.errors.some(({ field }) => field.endsWith('.expires_at')))
    return <p class="quiet">This is not an end that can be chosen.</p>;
  // It is about a change, and the form has one.
  if (error instanceof ApiError && CHANGE.test(error.message))
    return <p class="refusal">{`The server would reject this: ${error.message.replace(CHANGE, '')}.`}</p>;
  if (error !== undefined) return <Fault error={error} />;
  if (!report) return <p class="quiet">Asking the server.</p>;
  const { unattended, refusals, guardrails } = report;
  return (
    <div class="stack">
      {refusals.map(({ field, message }) => (
        <p key={`${field}${message}`} class="refusal">{`The server would reject this: ${message}`}</p>
      ))}
      {guardrails.map(
        ({ id, name, sentence, enforce }) =>
          !enforce && (
            <p
              key={String(id)}
              class="refusal"
            >{`This would violate the guardrail ${name}, which is only watched: ${sentence}.`}</p>
          ),
      )}
      {unattended.length > 0 && (
        <div class="stack tight change">
          <p class="strong">No user could do this any more, except site administrators:</p>
          <EffectList effects={unattended} kind="loss" isUnattended />
        </div>
      )}
      <Effects impact={report} unchanged={unchanged} />
    </div>
  );
}

/** Who gains, loses and keeps what. */
export function Effects(props: { impact: ImpactUsers; unchanged?: string | undefined }) {
  const {
    impact: { users, total },
    unchanged,
  } = props;
  const hidden = total - Math.min(users.length, SHOWN_PEOPLE);
  return (
    <>
      {users.length === 0 && <p>No user gains or loses anything.{unchanged && ` ${unchanged}`}</p>}
      {users.slice(0, SHOWN_PEOPLE).map((one) => (
        <div key={principalKey(one.user)} class="stack tight change">
          <span class="strong line">
            <MarkedName of={one.user} />
          </span>
          <EffectList effects={one.gains} kind="gain" />
          <EffectList effects={one.loses} kind="loss" />
          <EffectList effects={one.keeps} kind="kept" />
          {one.more > 0 && <p class="quiet">{`and ${one.more} more on single objects`}</p>}
          <LiveTokens of={one} />
        </div>
      ))}
      {hidden > 0 && <p class="quiet">{`and ${hidden} more`}</p>}
    </>
  );
}

/** Every holder of a token of a robot gains what the robot gains. */
function LiveTokens({
  of: { live_tokens: count = 0, token_creators: creators = [] },
}: {
  of: Report['users'][number];
}) {
  if (count === 0) return null;
  const by = creators.length === 0 ? '' : `, created by ${creators.map(({ name }) => name).join(', ')}`;
  return <p class="quiet">{`So does every program that has one of its tokens: ${count}${by}.`}</p>;
}

interface EffectListProps {
  readonly effects: readonly (Effect | Kept)[];
  readonly kind: keyof typeof KINDS;
  readonly isUnattended?: boolean | undefined;
}

function EffectList({ effects, kind, isUnattended }: EffectListProps) {
  const rest = effects.slice(SHOWN_EFFECTS);
  if (effects.length === 0) return null;
  const { sign, verb } = KINDS[kind];
  const items = (shown: readonly (Effect | Kept)[]) =>
    shown.map((effect) => (
      <li key={`${effect.object.type}${effect.object.id}${effect.relation}`} class={kind}>
        <span aria-hidden="true">{isUnattended ? '!' : sign}</span>{' '}
        {!isUnattended && <span class="only-read">{verb}</span>} {wordsOf(effect)}
        <End effect={effect} kind={kind} />
      </li>
    ));
  return (
    <>
      <ul>{items(effects.slice(0, SHOWN_EFFECTS))}</ul>
      {rest.length > 0 && (
        <details>
          <summary>{`and ${rest.length} more`}</summary>
          <ul>{items(rest)}</ul>
        </details>
      )}
    </>
  );
}

/** Until when it lasts: a gain, a loss that would have come anyway, or something that is kept for another time. */
function End({ effect, kind }: { effect: Effect | Kept; kind: EffectListProps['kind'] }) {
  const { expires_at: end } = effect;
  if (kind !== 'kept') {
    if (end === undefined) return null;
    return (
      <>
        {kind === 'gain' ? ', which ends ' : ', which would have ended '}
        <When at={end} />
      </>
    );
  }
  const before = 'expires_at_before' in effect ? effect.expires_at_before : undefined;
  return (
    <>
      {end === undefined ? ', now without an end' : ', which now ends '}
      {end !== undefined && <When at={end} />}
      {before === undefined ? ' (before: never)' : ' (before: '}
      {before !== undefined && <When at={before} />}
      {before !== undefined && ')'}
    </>
  );
}

/** A permission as in a role; anything else is what can be done with which object. */
function wordsOf({ object, relation, permission }: Effect | Kept): string {
  if (permission) return nameOfAction(permission.action);
  return `${nameOfRelation(object.type, relation)}: ${titleOf(object.type)} ${object.name}`;
}
