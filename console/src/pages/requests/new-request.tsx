import { typeNamed } from '../../../../client/object-kinds.ts';
import { useQueryFields } from '../../data/address.ts';
import { useOrgName } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { ObjectPicker } from '../access/object-picker.tsx';
import { RelationField } from '../access/relation-field.tsx';
import { AskForm } from './ask-form.tsx';
import '../access/access.css';

/**
 * `?object=cluster:1&relation=can_connect`: asks for what a link names. A rejection names a relation as `edit:cluster`,
 * without an object.
 */
export function NewRequestPage() {
  const org = useOrgName();
  const fields = useQueryFields({ relation: '', type: 'cluster', id: '', object: '' });
  const { relation, type, id, object } = fields;
  if (object.value !== '') {
    const [kind = '', number = ''] = object.value.split(':');
    type.value = kind;
    id.value = number;
    object.value = '';
  }
  const [, verb, kind] = /^(\w+):(\w+)$/.exec(relation.value) ?? [];
  if (verb !== undefined) {
    const wanted = typeNamed(kind ?? '');
    if (wanted !== type.value) id.value = '';
    type.value = wanted;
    relation.value = `can_${verb.replace(/^can_/, '')}`;
  }
  const isComplete = /^[1-9]\d{0,17}$/.test(id.value) && relation.value !== '';
  const why = useResource(
    isComplete ? 'GET /authz/objects/{objectType}/{objID}/explain' : undefined,
    isComplete
      ? {
          path: { objectType: type.value, objID: id.value },
          query: { org, relation: relation.value, remedies: true },
        }
      : undefined,
  );
  return (
    <Page
      title="Ask for access"
      within={org}
      lead="Access for a while, if a user who could give it approves."
      isStale={why.isStale}
    >
      <form class="question" onSubmit={(event) => event.preventDefault()}>
        <RelationField type={type.value} relation={relation} />
        <ObjectPicker org={org} type={type} id={id} />
      </form>
      {isComplete && (
        <Show of={why}>
          {({ allowed, sentence, requestable }) => (
            <Card>
              <p class="strong">{sentence}</p>
              {requestable ? (
                <AskForm
                  key={`${relation.value} ${type.value} ${id.value}`}
                  {...{ org, type: type.value, id: id.value, relation: relation.value, requestable }}
                />
              ) : (
                <p>
                  {allowed ? 'You have it already.' : 'This cannot be requested. Ask an owner of the organization.'}
                </p>
              )}
            </Card>
          )}
        </Show>
      )}
    </Page>
  );
}
