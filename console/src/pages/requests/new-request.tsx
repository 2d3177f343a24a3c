import { useLocation } from 'preact-iso';
import { orgPath, useOrgName } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { AskForm } from './ask-form.tsx';

/** `?object=cluster:1&relation=can_connect`: asks for what a link names. */
export function NewRequestPage() {
  const org = useOrgName();
  const { object = '', relation = '' } = useLocation().query;
  const [type = '', id = ''] = object.split(':');
  const isComplete = /^[1-9]\d{0,17}$/.test(id) && relation !== '';
  const why = useResource(
    isComplete ? 'GET /authz/objects/{objectType}/{objID}/explain' : undefined,
    isComplete ? { path: { objectType: type, objID: id }, query: { org, relation, remedies: true } } : undefined,
  );
  return (
    <Page title="Ask for access" within={org} lead="Access for a while, if somebody who could give it approves.">
      {!isComplete && (
        <Empty
          text="Choose what you need on the page Why. If the answer is no and you can ask for it, the answer says so."
          action={<a href={orgPath(org, '/access/why')}>Why</a>}
          command={`atrium request RELATION OBJECT --for 4h --because TEXT --org ${org}`}
        />
      )}
      {isComplete && (
        <Show of={why}>
          {({ allowed, sentence, requestable }) => (
            <Card>
              <p class="strong">{sentence}</p>
              {requestable ? (
                <AskForm {...{ org, type, id, relation, requestable }} />
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
