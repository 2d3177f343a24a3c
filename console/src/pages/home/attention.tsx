import type { ComponentChildren } from 'preact';
import type { Answer, Item } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';
import { serverNow } from '../../data/server-time.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Phase } from '../../parts/bits.tsx';
import { isEnding } from '../../parts/token-table.tsx';
import { When } from '../../parts/when.tsx';
import { clusterPath } from './cluster-path.ts';
import './home.css';

type Cluster = Item<'GET /user/clusters'>;

const UNHEALTHY = new Set(['Lost', 'NotConnected']);
const MAX_CLUSTERS = 5;

interface AttentionProps {
  readonly clusters: readonly Cluster[];
  readonly notices: Answer<'GET /user/context'>['notices'] | undefined;
}

/** What needs the user: nothing is shown if nothing does. Contracts that end are on the page of their organization. */
export function Attention({ clusters, notices }: AttentionProps) {
  const unhealthy = clusters.filter((cluster) => UNHEALTHY.has(cluster.status.response.phase));
  const notes: ComponentChildren[] = [
    ...unhealthy.slice(0, MAX_CLUSTERS).map((cluster) => (
      <AttentionNote
        key={`cluster ${cluster.id}`}
        href={clusterPath(cluster)}
        what={cluster.displayName || cluster.name}
      >
        <Phase phase={cluster.status.response.phase} />
        {cluster.status.response.message}
      </AttentionNote>
    )),
    ...(unhealthy.length > MAX_CLUSTERS
      ? [
          <li key="more" class="quiet">
            and {unhealthy.length - MAX_CLUSTERS} more clusters that are not connected
          </li>,
        ]
      : []),
    ...(notices?.tokens ?? []).filter(isEnding).map((token) => (
      <AttentionNote key={`token ${token.id}`} href="/me/tokens" what={`The token ${token.name}`}>
        {isPast(token.expires_at) ? 'expired' : 'expires'} <When at={token.expires_at} />
      </AttentionNote>
    )),
    ...(notices?.memberships ?? []).map(({ team, organization, expires_at }) => (
      <AttentionNote
        key={`membership ${team.id}`}
        href={orgPath(organization, `/teams/${team.id}`)}
        what={`Your membership of ${team.name} in ${organization}`}
      >
        expires <When at={expires_at} />
      </AttentionNote>
    )),
    ...(notices?.unverified_emails ?? []).map((email) => (
      <AttentionNote key={`email ${email}`} href="/me/emails" what={email}>
        is not verified
      </AttentionNote>
    )),
  ];
  if (notes.length === 0) return null;
  return (
    <Card title="Needs attention">
      <ul class="attention">{notes}</ul>
    </Card>
  );
}

function AttentionNote({ href, what, children }: { href: string; what: string; children: ComponentChildren }) {
  return (
    <li>
      <Icon name="warning" />
      <a href={href}>
        <bdi>{what}</bdi>
      </a>{' '}
      <span class="line">{children}</span>
    </li>
  );
}

function isPast(at: string): boolean {
  return Date.parse(at) < serverNow();
}
