import { useEffect } from 'preact/hooks';
import { useQueryFields } from '../../data/address.ts';
import { useOrgName } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Card } from '../../parts/bits.tsx';
import { Copy } from '../../parts/copy.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { noteAskedWhy } from '../arrival/asked-why.ts';
import { AskForIt } from '../requests/ask-form.tsx';
import { AccessTabs } from './access-tabs.tsx';
import { AsOfBanner, AsOfField, atOf } from './as-of.tsx';
import { MissingPicture } from './missing-picture.tsx';
import { ObjectPicker } from './object-picker.tsx';
import { Paths, Rows } from './paths.tsx';
import type { Explanation } from './proof.ts';
import { RelationField } from './relation-field.tsx';
import { Remedies, remedyId } from './remedies.tsx';
import { TimeStrip } from './time-strip.tsx';
import './access.css';

/** One person, one permission, one object: the answer, and the proof of it. */
export function WhyPage() {
  const org = useOrgName();
  const fields = useQueryFields({
    user: me.value?.login ?? '',
    relation: '',
    type: 'cluster',
    id: '',
    object: '',
    at: '',
  });
  const { user, relation, type, id, object, at } = fields;
  // Links from other pages name the object in one word.
  if (object.value !== '') {
    const [kind = '', number = ''] = object.value.split(':');
    type.value = kind;
    id.value = number;
    object.value = '';
  }
  const isComplete = user.value !== '' && relation.value !== '' && id.value !== '';
  const why = useResource(
    isComplete ? 'GET /authz/objects/{objectType}/{objID}/explain' : undefined,
    isComplete
      ? {
          path: { objectType: type.value, objID: id.value },
          query: { org, relation: relation.value, user: user.value, paths: 'all', remedies: true, ...atOf(at) },
        }
      : undefined,
  );
  useEffect(() => {
    if (why.data !== undefined) noteAskedWhy();
  }, [why.data]);
  return (
    <Page
      title="Why?"
      within={org}
      lead="One person, one permission, one object. The picture is the proof itself."
      isStale={why.isStale}
    >
      <AccessTabs />
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <span>May</span>
        <UserPicker label="Person" value={user} robotsOf={org} />
        <RelationField type={type.value} relation={relation} />
        <ObjectPicker org={org} type={type} id={id} />
      </form>
      <AsOfField at={at} />
      <TimeStrip org={org} at={at} isAsked={isComplete} />
      <AsOfBanner at={at} changes={why.data?.changed_since} />
      {isComplete && (
        <Show of={why}>
          {(answer) => (
            <WhyAnswer
              org={org}
              user={user.value}
              explanation={answer}
              at={at.value}
              asks={{ type: type.value, id: id.value, relation: relation.value }}
            />
          )}
        </Show>
      )}
    </Page>
  );
}

interface WhyAnswerProps {
  readonly org: string;
  readonly user: string;
  readonly explanation: Explanation;
  readonly at: string;
  readonly asks: { readonly type: string; readonly id: string; readonly relation: string };
}

function WhyAnswer({ org, user, explanation, at, asks }: WhyAnswerProps) {
  const {
    allowed,
    allowed_now,
    sentence,
    missing,
    steps,
    paths = [],
    more = false,
    remedies = [],
    requestable,
  } = explanation;
  return (
    <>
      <Card>
        <p class={`verdict ${allowed ? 'yes' : 'no'}`} role="status">
          <strong>{allowed ? 'Yes' : 'No'}</strong>
          <span>{sentence}</span>
        </p>
        {requestable && allowed_now === undefined && <AskForIt org={org} {...asks} requestable={requestable} />}
        {allowed_now !== undefined && allowed_now !== allowed && (
          <p class="quiet">Now the answer is {allowed_now ? 'yes' : 'no'}.</p>
        )}
        {allowed && <Paths user={user} paths={paths.length > 0 ? paths : [steps]} hasMore={more} />}
        {!allowed && allowed_now === undefined && <MissingPicture explanation={explanation} idOf={remedyId} />}
        {missing.length > 0 && remedies.length === 0 && (
          <>
            <h2>What is missing</h2>
            <ul class="bullets">
              {missing.map((text) => (
                <li key={text}>{text}</li>
              ))}
            </ul>
          </>
        )}
        {paths.length < 2 && steps.length > 0 && (
          <>
            <h2>The rules and rows that say so</h2>
            <Rows steps={steps} />
          </>
        )}
      </Card>
      <p class="line quiet small">
        <Copy
          text={`atrium can ${user} ${asks.relation.replace(/^can_/, '')} ${asks.type === 'organization' ? `org:${org}` : `${asks.type}:${asks.id}`} --why --org ${org}${at === '' ? '' : ` --at ${at}`}`}
          label="Copy as a command"
        />
      </p>
      {!allowed && allowed_now === undefined && <Remedies org={org} user={user} explanation={explanation} />}
    </>
  );
}
