import type { ComponentChildren } from 'preact';
import type { Answer, Item } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';
import { serverNow } from '../../data/server-time.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Phase } from '../../parts/bits.tsx';
import { isEnding } from '../../parts/token-ending.ts';
import { When } from '../../parts/when.tsx';
import { clusterPath } from './cluster-path.ts';
import './home.css';

type Cluster = Item<'GET /user/clusters'>;

interface AttentionProps {
  /** The first clusters that need attention, and how many do. */
  readonly clusters: readonly Cluster[];
  readonly total: number;
  readonly notices: Answer<'GET /user/context'>['notices'] | undefined;
}

/** What needs the user: nothing is shown if nothing does. Contracts that end are on the page of their organization. */
export function Attention({ clusters, total, notices }: AttentionProps) {
  const notes: ComponentChildren[] = [
    ...clusters.map((cluster) => (
      <AttentionNote
        key={`cluster ${cluster.id}`}
        href={clusterPath(cluster)}
        what={cluster.displayName || cluster.name}
      >
        <Phase phase={cluster.status.response.phase} />
        <ClusterReport cluster={cluster} />
      </AttentionNote>
    )),
    ...(total > clusters.length
      ? [
          <li key="more" class="quiet">
            and {total - clusters.length} more clusters
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

/** The message of a silent cluster is a time of the server, which is shown like every other time. */
function ClusterReport({ cluster }: { cluster: Cluster }) {
  const { message } = cluster.status.response;
  const since = /^no heartbeat since (\S+Z)$/.exec(message)?.[1];
  if (since === undefined) return message;
  return (
    <span>
      Last heartbeat <When at={since} />
    </span>
  );
}

function isPast(at: string): boolean {
  return Date.parse(at) < serverNow();
}
