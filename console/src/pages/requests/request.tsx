import { useRoute } from 'preact-iso';
import { useOrgName } from '../../data/org.ts';
import { askedName } from '../../data/principal.ts';
import { useResource } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Effects, type ImpactUsers } from '../../parts/impact.tsx';
import { Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { Paths } from '../access/paths.tsx';
import { RequestActions } from './request-actions.tsx';
import { RequestState } from './request-table.tsx';
import { type AccessRequest, askedFor, changeWords } from './request-words.ts';
import '../access/access.css';

export function RequestPage() {
  const org = useOrgName();
  const { id = '' } = useRoute().params;
  const request = useResource('GET /authz/requests/{id}', { path: { id }, query: { org } });
  return (
    <ShowPage of={request} title="Access request" within={org}>
      {(found) => (
        <Page
          title={`${askedName(found.by)} asks for access`}
          within={org}
          lead={<Sentence of={found} />}
          isStale={request.isStale}
        >
          <RequestActions request={found} onChanged={request.reload} />
          <div class="with-panel">
            <div class="stack">
              <Details of={found} />
              <WhyNow request={found} />
            </div>
            <div class="panel stack">
              <Card title={found.state === 'open' ? 'If it is approved' : 'What it was about'}>
                <ul class="bullets">
                  {found.changes.map((change) => (
                    <li key={change.action}>
                      <bdi>{changeWords(change, found.by)}</bdi>
                    </li>
                  ))}
                </ul>
                {/* In its shape it is what a preview answers. */}
                <Effects impact={found.impact as unknown as ImpactUsers} />
              </Card>
            </div>
          </div>
        </Page>
      )}
    </ShowPage>
  );
}

function Sentence({ of: request }: { of: AccessRequest }) {
  return (
    <>
      <bdi class="strong">{askedFor(request)}</bdi>
      {', which ends '}
      <When at={request.until} />
      {'. Reason: '}
      <bdi>{request.reason}</bdi>
    </>
  );
}

function Details({ of: request }: { of: AccessRequest }) {
  const { state, approvals_needed: needed, approvers, approvers_count: count, decisions, because, rule } = request;
  const names = approvers.map(askedName).join(', ');
  const able = names || `${count} ${count === 1 ? 'user' : 'users'}`;
  return (
    <Card title="State">
      <Facts
        of={[
          { name: 'State', value: <RequestState of={request} /> },
          ...(because ? [{ name: 'Why', value: because }] : []),
          ...(state === 'open'
            ? [
                {
                  name: 'Who can decide',
                  value: <bdi>{count === 0 ? 'no user at the moment' : able}</bdi>,
                },
                { name: 'Approvals needed', value: needed },
                { name: 'Open until', value: <When at={request.closes_at} /> },
              ]
            : [{ name: 'Closed', value: <When at={request.closed_at} /> }]),
          { name: 'Requested', value: <When at={request.created_at} /> },
          { name: 'Access ends', value: <When at={request.until} /> },
          { name: 'Rule', value: rule ?? 'the default' },
        ]}
      />
      {decisions.length > 0 && (
        <ul class="stack tight">
          {decisions.map(({ by, decision, comment, at }) => (
            <li key={at}>
              {decision} by <bdi class="strong">{by?.name ?? 'an approver'}</bdi> <When at={at} />
              {comment !== '' && (
                <>
                  {': '}
                  <bdi>{comment}</bdi>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

/** The answer at the moment, with the rows that it rests on. Only for users who may ask about the requester. */
function WhyNow({ request: { asks, by, organization: org } }: { request: AccessRequest }) {
  const { type, id } = asks.object;
  const user = askedName(by);
  const { data } = useResource(
    id === null ? undefined : 'GET /authz/objects/{objectType}/{objID}/explain',
    id === null
      ? undefined
      : {
          path: { objectType: type, objID: id },
          query: { org, relation: asks.relation, user, namespace: asks.namespaces?.[0] },
        },
  );
  if (!data) return null;
  const { allowed, sentence, steps } = data;
  return (
    <Card title="Now">
      <p class={`verdict ${allowed ? 'yes' : 'no'}`}>
        <strong>{allowed ? 'Yes' : 'No'}</strong>
        <span>{sentence}</span>
      </p>
      {allowed && <Paths user={user} paths={[steps]} hasMore={false} />}
    </Card>
  );
}
