import type { Answer } from '../../../../client/client.ts';
import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { NAMED_TYPES } from '../../../../client/object-kinds.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { together, useResource } from '../../data/resource.ts';
import { Card, phaseTone, StackedBar, WebLink } from '../../parts/bits.tsx';
import { LinkButton } from '../../parts/button.tsx';
import { capital } from '../../parts/capital.ts';
import { Entries } from '../../parts/entries.tsx';
import { Empty, Page, Show, ShowPage } from '../../parts/page.tsx';
import { OrganizationSteps } from '../arrival/organization-steps.tsx';
import { ClusterField } from '../clusters/cluster-field.tsx';
import { DormantAccess } from './dormant-access.tsx';
import { EndingCalendar } from './ending-calendar.tsx';
import { expiryLines, hasParts, type Overview, stateSentence } from './overview-words.ts';
import './overview.css';

const SHOWN_ENTRIES = 8;

const COUNTS = [
  { part: 'members', title: 'Members', one: 'Member', path: '/members' },
  ...NAMED_TYPES.map((type) => {
    const { plural, word } = OBJECT_KINDS[type];
    return { part: plural, title: capital(plural), one: capital(word), path: `/${plural}` };
  }),
] as const;

export function OverviewPage() {
  const { org } = useOrg();
  const details = useResource('GET /orgs/{org}', { path: { org } });
  return (
    <ShowPage title={org} of={details}>
      {(found) => <Details key={org} details={found} />}
    </ShowPage>
  );
}

/** How the organization is. What the caller may not see is absent, because the server leaves it out. */
function Details({ details }: { details: Answer<'GET /orgs/{org}'> }) {
  const { org, may } = useOrg();
  const overview = useResource('GET /orgs/{org}/overview', { path: { org } });
  const isLogShown = may('can_view_audit_log') === true;
  const log = useResource(isLogShown ? 'GET /orgs/{org}/audit' : undefined, {
    path: { org },
    query: { limit: SHOWN_ENTRIES },
  });
  return (
    <Page
      title={details.full_name || details.name}
      within={details.full_name ? org : undefined}
      lead={<bdi>{details.description}</bdi>}
      isStale={overview.isStale}
    >
      {details.website && (
        <p>
          <WebLink url={details.website} />
        </p>
      )}
      <Show of={isLogShown ? together(overview, log) : overview}>
        {(found) =>
          hasParts(found) ? (
            <>
              <Parts org={org} overview={found} />
              {isLogShown && (
                <Card title="Latest changes" actions={<a href={orgPath(org, '/audit')}>Audit log</a>}>
                  <Show of={log}>
                    {({ items }) => <Entries org={org} of={items} empty="Nothing was changed yet." />}
                  </Show>
                </Card>
              )}
            </>
          ) : (
            <Empty
              text="You are a member, but none of your teams lets you see what the organization has. An owner can change that."
              action={<LinkButton href={orgPath(org, '/access/why')}>Why?</LinkButton>}
            />
          )
        }
      </Show>
    </Page>
  );
}

function Parts({ org, overview }: { org: string; overview: Overview }) {
  const { clusters } = overview;
  const expiring = expiryLines(overview, org);
  return (
    <>
      <p class="overview-state">
        {clusters !== undefined && clusters.attention > 0 ? (
          <a href={orgPath(org, '/clusters?phase=attention')}>{stateSentence(overview)}</a>
        ) : (
          stateSentence(overview)
        )}
      </p>
      <ul class="overview-counts">
        {COUNTS.map(({ part, title, one, path }) => {
          const value = overview[part];
          if (value === undefined) return null;
          const count = typeof value === 'number' ? value : value.all;
          return (
            <li key={part}>
              <a href={orgPath(org, path)}>
                <strong>{count}</strong>
                <span class="quiet">{count === 1 ? one : title}</span>
              </a>
            </li>
          );
        })}
      </ul>
      <OrganizationSteps org={org} overview={overview} />
      {clusters !== undefined && clusters.all > 0 && (
        <Card title="Clusters by phase">
          <StackedBar
            segments={Object.entries(clusters.by_phase)
              .filter(([, count]) => count > 0)
              .map(([phase, count]) => ({
                label: phase,
                count,
                tone: phaseTone(phase),
                href: orgPath(org, `/clusters?${new URLSearchParams({ phase })}`),
              }))}
          />
          <ClusterField org={org} byPhase={clusters.by_phase} />
        </Card>
      )}
      {expiring.length > 0 && (
        <Card title="Needs attention soon">
          <ul class="bullets">
            {expiring.map(({ text, href }) => (
              <li key={text}>
                <a href={href}>{text}</a>
              </li>
            ))}
          </ul>
          <EndingCalendar org={org} overview={overview} />
        </Card>
      )}
      <DormantAccess org={org} overview={overview} />
    </>
  );
}
