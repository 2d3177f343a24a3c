import { useQueryFields } from '../../data/address.ts';
import { useOrgName } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Card } from '../../parts/bits.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { AsOfBanner, AsOfField, atOf } from './as-of.tsx';
import { ObjectPicker } from './object-picker.tsx';
import { type Explanation, isOnePath } from './proof.ts';
import { ProofPicture } from './proof-picture.tsx';
import { RelationField } from './relation-field.tsx';
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
          query: { org, relation: relation.value, user: user.value, ...atOf(at) },
        }
      : undefined,
  );
  return (
    <Page
      title="Why?"
      within={org}
      lead="One person, one permission, one object. The picture is the proof itself."
      isStale={why.isStale}
    >
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <span>May</span>
        <UserPicker label="Person" value={user} />
        <RelationField type={type.value} relation={relation} />
        <ObjectPicker org={org} type={type} id={id} />
      </form>
      <AsOfField at={at} />
      <AsOfBanner at={at} changes={why.data?.changed_since} />
      {isComplete && <Show of={why}>{(answer) => <WhyAnswer explanation={answer} />}</Show>}
    </Page>
  );
}

function WhyAnswer({ explanation }: { explanation: Explanation }) {
  const { allowed, allowed_now, sentence, missing, steps } = explanation;
  return (
    <Card>
      <p class={`verdict ${allowed ? 'yes' : 'no'}`} role="status">
        <strong>{allowed ? 'Yes' : 'No'}</strong>
        <span>{sentence}</span>
      </p>
      {allowed_now !== undefined && allowed_now !== allowed && (
        <p class="quiet">Now the answer is {allowed_now ? 'yes' : 'no'}.</p>
      )}
      {allowed && isOnePath(explanation) && (
        <div class="proof-box">
          <ProofPicture explanation={explanation} />
        </div>
      )}
      {missing.length > 0 && (
        <>
          <h2>What is missing</h2>
          <ul class="bullets">
            {missing.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      {steps.length > 0 && (
        <>
          <h2>The rules and rows that say so</h2>
          <div class="table-box why-rows">
            <table>
              <caption class="only-read">Each line rests on the deeper ones after it</caption>
              <thead>
                <tr>
                  <th scope="col">Says</th>
                  <th scope="col">Row</th>
                </tr>
              </thead>
              <tbody>
                {steps.map((step) => (
                  <tr key={`${step.depth}${step.object}${step.relation}${step.subject}`}>
                    <td>{step.text}</td>
                    <td class="mono">
                      {step.tuple === null
                        ? `rule: ${step.rule}`
                        : `${step.tuple.user} · ${step.tuple.relation} · ${step.tuple.object}`}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </Card>
  );
}
