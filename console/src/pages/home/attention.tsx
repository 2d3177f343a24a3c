import type { ComponentChildren } from 'preact';
import type { Item } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Phase } from '../../parts/bits.tsx';
import { isEnding } from '../../parts/token-table.tsx';
import { When } from '../../parts/when.tsx';
import { clusterPath } from './home.tsx';
import './home.css';

type Cluster = Item<'GET /user/clusters'>;

const UNHEALTHY = new Set(['Lost', 'NotConnected']);
const MAX_CLUSTERS = 5;
/** Contracts are asked for by organization, and few people are in more than one. */
const MAX_ORGS = 2;
const SOON_MS = 30 * 86_400_000;

interface AttentionProps {
  readonly clusters: readonly Cluster[] | undefined;
  readonly orgs: readonly string[] | undefined;
}

/** What needs the user: nothing is shown if nothing does. */
export function Attention({ clusters = [], orgs = [] }: AttentionProps) {
  const username = me.value?.login ?? '';
  const tokens = useResource('GET /users/{username}/tokens', { path: { username }, query: { limit: 50 } }).data ?? [];
  const emails = useResource('GET /user/emails').data ?? [];
  const [first, second] = orgs.slice(0, MAX_ORGS);
  const contracts = [...useEndingContracts(first), ...useEndingContracts(second)];
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
    ...tokens.filter(isEnding).map((token) => (
      <AttentionNote key={`token ${token.id}`} href="/me/tokens" what={`The token ${token.name}`}>
        {isPast(token.expires_at) ? 'expired' : 'expires'} <When at={token.expires_at} />
      </AttentionNote>
    )),
    ...contracts.map(({ org, id, name, end }) => (
      <AttentionNote key={`contract ${id}`} href={orgPath(org, `/contracts/${id}`)} what={`The contract ${name}`}>
        {isPast(end) ? 'ended' : 'ends'} <When at={end} />
      </AttentionNote>
    )),
    ...emails
      .filter((email) => !email.verified)
      .map((email) => (
        <AttentionNote key={`email ${email.email}`} href="/me/emails" what={email.email}>
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

/** Whoever may not see the contracts of an organization is not told about them. */
function useEndingContracts(org: string | undefined) {
  const { data = [] } = useResource(
    org === undefined ? undefined : 'GET /orgs/{org}/contracts',
    org === undefined ? undefined : { path: { org }, query: { limit: 50 } },
  );
  return data
    .filter(({ end, revoked }) => end !== null && !revoked && Date.parse(end) - Date.now() < SOON_MS)
    .map(({ id, name, end }) => ({ org: org ?? '', id, name, end }));
}

function isPast(at: string | null): boolean {
  return at !== null && Date.parse(at) < Date.now();
}
