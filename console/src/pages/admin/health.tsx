import type { Answer } from '../../../../client/client.ts';
import { pageData } from '../../data/page-data.ts';
import { together, useList, useResource } from '../../data/resource.ts';
import { serverNow } from '../../data/server-time.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Facts } from '../../parts/bits.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { SiteSteps } from '../arrival/site-steps.tsx';
import { type Summary, silentMarketplaces } from '../marketplace/marketplace-words.ts';
import { AdminOnly } from './admin-only.tsx';
import { providerPath } from './provider-path.ts';
import './admin.css';

export function HealthPage() {
  return (
    <AdminOnly title="Health">
      <Health />
    </AdminOnly>
  );
}

const DAY_MS = 86_400_000;

interface Concern {
  readonly text: string;
  readonly href?: string;
}

/** How the deployment is: what needs attention, and how much there is of everything. */
function Health() {
  const overview = useResource('GET /admin/overview');
  const marketplace = useResource(pageData.features.marketplace ? 'GET /admin/marketplace/summary' : undefined);
  const clusters = useList('GET /user/clusters', { query: { all: 'true', attention: 'true', limit: 1 } });
  const providers = useResource('GET /admin/providers');
  const concerns = [
    ...clusterConcerns(clusters.total ?? 0),
    ...mailConcerns(),
    ...providerConcerns(providers.data ?? []),
    ...ownerConcerns(overview.data?.ownerless_organizations ?? 0),
    ...(marketplace.data ? deliveryConcerns(marketplace.data) : []),
  ];
  const basis = together(overview, clusters, providers);
  const whole = pageData.features.marketplace ? together(basis, marketplace) : basis;
  return (
    <Page
      title="Health"
      within="Administration"
      lead="What needs attention in this deployment, and how much there is of everything."
      isStale={overview.isStale}
    >
      <Show of={whole}>
        {(counts) => (
          <>
            <SiteSteps facts={counts} />
            <Card title="Needs attention">
              {concerns.length === 0 ? (
                marketplace.error === undefined && <p class="quiet">Nothing needs attention.</p>
              ) : (
                <ul class="concerns">
                  {concerns.map(({ text, href }) => (
                    <li key={text}>
                      <Icon name="warning" />
                      {href === undefined ? <span>{text}</span> : <a href={href}>{text}</a>}
                    </li>
                  ))}
                </ul>
              )}
              <Show of={{ ...marketplace, data: marketplace.error === undefined ? true : undefined }} rows={0}>
                {() => null}
              </Show>
            </Card>
            <ul class="numbers">
              <Numbered href="/admin/users" count={counts.users} one="Person" many="People" />
              <Numbered href="/admin/orgs" count={counts.organizations} one="Organization" many="Organizations" />
              {marketplace.data && (
                <>
                  <Numbered
                    href="/admin/subscriptions"
                    count={sum(marketplace.data.subscriptions)}
                    one="Subscription"
                    many="Subscriptions"
                  />
                  <Numbered
                    href="/admin/installers"
                    count={sum(marketplace.data.installers)}
                    one="Installer"
                    many="Installers"
                  />
                  <Numbered
                    href="/admin/deliveries"
                    count={sum(marketplace.data.deliveries)}
                    one="Delivery"
                    many="Deliveries"
                  />
                </>
              )}
            </ul>
            <Card title="This server">
              <Facts
                of={[
                  { name: 'Version', value: pageData.version },
                  { name: 'Deployment', value: pageData.deployment },
                  { name: 'Email', value: pageData.features.mail ? 'is sent' : 'is not set up' },
                  { name: 'API', value: <a href="/api/v1/docs">Documentation</a> },
                ]}
              />
              <p class="quiet small">
                On the machine of the server, <code>atrium doctor</code> checks its database, files and settings.
              </p>
            </Card>
          </>
        )}
      </Show>
    </Page>
  );
}

function Numbered(props: { href: string; count: number; one: string; many: string }) {
  const { href, count, one, many } = props;
  return (
    <li>
      <a href={href}>
        <strong>{count}</strong>
        <span class="quiet">{count === 1 ? one : many}</span>
      </a>
    </li>
  );
}

function ownerConcerns(count: number): readonly Concern[] {
  if (count === 0) return [];
  const text = count === 1 ? 'One organization has no owner.' : `${count} organizations have no owner.`;
  return [{ text, href: '/admin/orgs?owner=none' }];
}

function clusterConcerns(count: number): readonly Concern[] {
  if (count === 0) return [];
  return [{ text: count === 1 ? 'One cluster needs attention.' : `${count} clusters need attention.`, href: '/' }];
}

function mailConcerns(): readonly Concern[] {
  if (pageData.features.mail) return [];
  return [
    { text: 'Email is not set up: set SMTP_URL. Until then, invitations are links that you hand over yourself.' },
  ];
}

function providerConcerns(providers: Answer<'GET /admin/providers'>): readonly Concern[] {
  return providers.flatMap(({ name, display_name, last_fault_at, missing_teams }) => {
    const href = providerPath(name);
    return [
      ...(isRecent(last_fault_at)
        ? [{ text: `A sign-in with ${display_name} failed in the last 24 hours.`, href }]
        : []),
      ...(missing_teams.length === 0 ? [] : [{ text: `${display_name} names unknown teams.`, href }]),
    ];
  });
}

function isRecent(at: string | null): boolean {
  return at !== null && serverNow() - Date.parse(at) < DAY_MS;
}

function deliveryConcerns(summary: Summary): readonly Concern[] {
  const { deliveries, events, marketplaces } = summary;
  const counted = (count: number, one: string, many: string, href: string): readonly Concern[] =>
    count === 0 ? [] : [{ text: count === 1 ? one : `${count} ${many}`, href }];
  return [
    ...counted(
      deliveries.dead,
      'The server gave up on one delivery.',
      'deliveries were given up.',
      '/admin/deliveries?show=dead',
    ),
    ...counted(
      deliveries.received,
      'One delivery is waiting.',
      'deliveries are waiting.',
      '/admin/deliveries?show=received',
    ),
    ...counted(events.dead, 'One event could not be sent.', 'events could not be sent.', '/admin/marketplace'),
    ...marketplaces
      .filter((one) => one.proven_by === 'secret' && one.secrets === 0)
      .map(({ marketplace }) => ({
        text: `${marketplace} has no live secret, so all its deliveries are rejected.`,
        href: '/admin/marketplace',
      })),
    ...silentMarketplaces(summary).map(({ marketplace }) => ({
      text: `Nothing came from ${marketplace} for days.`,
      href: `/admin/deliveries?marketplace=${marketplace}`,
    })),
  ];
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
