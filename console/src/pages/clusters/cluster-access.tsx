import { orgPath, useOrg } from '../../data/org.ts';
import { askedName, principalKey } from '../../data/principal.ts';
import { useList } from '../../data/resource.ts';
import { Icon } from '../../icons/icon.tsx';
import { MarkedName } from '../../parts/marked-name.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import type { Cluster } from './cluster-fields.tsx';

/** Whoever may connect or edit may also view. */
const EVERYBODY = 'can_view';
const RELATIONS = [
  { relation: EVERYBODY, title: 'View' },
  { relation: 'can_connect', title: 'Connect' },
  { relation: 'can_edit', title: 'Edit' },
] as const;
const FURTHER = RELATIONS.map(({ relation }) => relation).filter((relation) => relation !== EVERYBODY);

/** Everybody who may see the cluster, and what else they may do with it. Each mark leads to why. */
export function ClusterAccess({ org, cluster }: { org: string; cluster: Cluster }) {
  const { question } = useOrg();
  const viewers = useList('GET /authz/objects/{objectType}/{objID}/principals', {
    path: { objectType: 'cluster', objID: cluster.id },
    query: { org, relation: EVERYBODY, also: FURTHER.join(), limit: 50 },
  });
  const whyPath = (user: string, relation: string) =>
    orgPath(org, `/access/why?${new URLSearchParams({ user, relation, object: `cluster:${cluster.id}` })}`);
  return (
    <Show of={viewers} whyNot={question('can_view_members', 'see who has access')}>
      {(all) =>
        all.length === 0 ? (
          <Empty text="Nobody whom you may see can view this cluster." />
        ) : (
          <Table
            caption="Who has access to the cluster"
            rows={all}
            keyOf={principalKey}
            hrefOf={(person) =>
              person.type === 'robot_ac'
                ? whyPath(askedName(person), EVERYBODY)
                : orgPath(org, `/members/${encodeURIComponent(person.name)}`)
            }
            total={viewers.total}
            hasMore={viewers.hasMore}
            onMore={viewers.loadMore}
            columns={[
              { key: 'name', title: 'Person', cell: (person) => <MarkedName of={person} /> },
              ...RELATIONS.map(({ relation, title }) => ({
                key: relation,
                title,
                cell: (person: { readonly type: string; readonly name: string; readonly also?: readonly string[] }) => {
                  const holds = relation === EVERYBODY || person.also?.includes(relation);
                  const words = `${holds ? 'Why may' : 'Why may not'} ${person.name} ${title.toLowerCase()}?`;
                  return (
                    <a class="cluster-holds" href={whyPath(askedName(person), relation)} title={words}>
                      {holds ? <Icon name="check" /> : <span aria-hidden="true">no</span>}
                      <span class="only-read">{words}</span>
                    </a>
                  );
                },
              })),
            ]}
          />
        )
      }
    </Show>
  );
}
