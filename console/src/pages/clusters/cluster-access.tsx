import { orgPath, useOrg } from '../../data/org.ts';
import { askedName, objectPath, principalKey } from '../../data/principal.ts';
import { type List, useList } from '../../data/resource.ts';
import { Icon } from '../../icons/icon.tsx';
import { Card, Chip } from '../../parts/bits.tsx';
import { Expires } from '../../parts/expiry.tsx';
import { MarkedName, ObjectLink } from '../../parts/marked-name.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import type { Assignment } from '../assignments/assignment.ts';
import { AssignmentCard, PlaceLink } from '../assignments/assignments.tsx';
import { type AccessLine, type Holder, linesOf } from './access-lines.ts';
import type { Cluster } from './cluster-fields.tsx';
import './clusters.css';

/** A user who may do anything with a cluster may also view it. */
const EVERYBODY = 'can_view';
const RELATIONS = [
  { relation: EVERYBODY, title: 'View' },
  { relation: 'can_connect', title: 'Connect' },
  { relation: 'can_edit', title: 'Edit' },
  { relation: 'can_remove', title: 'Remove' },
] as const;
const FURTHER = RELATIONS.map(({ relation }) => relation).filter((relation) => relation !== EVERYBODY);
const PAGE = 50;

/** What is assigned on the cluster, and all users who may see it, what else they may do with it, and through what. */
export function ClusterAccess({ org, cluster }: { org: string; cluster: Cluster }) {
  const { question } = useOrg();
  const viewers = useList('GET /authz/objects/{objectType}/{objID}/principals', {
    path: { objectType: 'cluster', objID: cluster.id },
    query: { org, relation: EVERYBODY, also: FURTHER.join(), reason: true, limit: PAGE },
  });
  const { here, counting } = useAssignmentsFor(org, cluster);
  const whyPath = (user: string, relation: string) =>
    orgPath(org, `/access/why?${new URLSearchParams({ user, relation, object: `cluster:${cluster.id}` })}`);
  return (
    <>
      <AssignmentCard
        org={org}
        given={{ on: { type: 'cluster', id: cluster.id, name: cluster.name } }}
        title="Assigned here"
        empty="No role is assigned on this cluster alone. What counts in the organization is below."
        of={here}
      />
      <Card title="Who has access">
        <Show of={viewers} whyNot={question('can_view_members', 'see who has access')}>
          {(all) =>
            all.length === 0 ? (
              <Empty text="No user that you may see can view this cluster." />
            ) : (
              <Table
                caption="Who has access to the cluster"
                rows={all}
                keyOf={principalKey}
                hrefOf={(person) => objectPath(org, person) ?? ''}
                total={viewers.total}
                hasMore={viewers.hasMore}
                onMore={viewers.loadMore}
                columns={[
                  { key: 'name', title: 'Who', cell: (person) => <MarkedName of={person} /> },
                  {
                    key: 'through',
                    title: 'Through',
                    cell: (person) => (
                      <Lines org={org} of={linesOf(person, counting, here.data !== undefined && !here.hasMore)} />
                    ),
                  },
                  ...RELATIONS.map(({ relation, title }) => ({
                    key: relation,
                    title,
                    cell: (person: Holder) => (
                      <Answer person={person} relation={relation} title={title} whyPath={whyPath} />
                    ),
                  })),
                  {
                    key: 'why',
                    title: 'Why',
                    cell: (person) => (
                      <a
                        href={whyPath(askedName(person), EVERYBODY)}
                        aria-label={`Why does ${person.name} have access?`}
                      >
                        Why?
                      </a>
                    ),
                  },
                ]}
              />
            )
          }
        </Show>
      </Card>
    </>
  );
}

interface AnswerProps {
  readonly person: Holder;
  readonly relation: string;
  readonly title: string;
  readonly whyPath: (user: string, relation: string) => string;
}

/** Yes or no; it leads to why. */
function Answer({ person, relation, title, whyPath }: AnswerProps) {
  const holds = relation === EVERYBODY || person.also?.includes(relation);
  const words = `${holds ? 'Why may' : 'Why may not'} ${person.name} ${title.toLowerCase()}?`;
  return (
    <a class="cluster-holds" href={whyPath(askedName(person), relation)} title={words}>
      {holds ? <Icon name="check" /> : <span aria-hidden="true">no</span>}
      <span class="only-read">{words}</span>
    </a>
  );
}

function Lines({ org, of }: { org: string; of: readonly AccessLine[] }) {
  return (
    <ul class="access-lines">
      {of.map(({ key, isHere, role, team, words, on, until }) => (
        <li key={key}>
          {isHere !== undefined && (
            <Chip tone={isHere ? 'mark' : 'quiet'}>{isHere ? 'assigned here' : 'inherited'}</Chip>
          )}
          {words}
          {role && (
            <span>
              role <ObjectLink org={org} of={{ type: 'role', ...role }} />
            </span>
          )}
          {team && (
            <span>
              {role && 'of '}
              <ObjectLink org={org} of={{ type: 'team', ...team }} />
            </span>
          )}
          {on && (
            <span>
              on <PlaceLink org={org} on={on} />
            </span>
          )}
          <Expires at={until} />
        </li>
      ))}
    </ul>
  );
}

/** The assignments on the cluster, and all that count there, in one call: those on the cluster come first. */
function useAssignmentsFor(
  org: string,
  { id }: Cluster,
): { readonly here: List<Assignment>; readonly counting: readonly Assignment[] } {
  const reaching = useList('GET /authz/assignments', { query: { org, reaching: `cluster:${id}`, limit: PAGE } });
  const counting = reaching.data ?? [];
  const onCluster = counting.filter(({ on }) => on.type === 'cluster');
  const hasMore = reaching.hasMore && onCluster.length === counting.length;
  const here = {
    ...reaching,
    hasMore,
    ...(reaching.data && { data: onCluster, total: hasMore ? undefined : onCluster.length }),
  };
  return { here, counting };
}
