import type { Loaded } from '../changes/exact-cache.ts';
import type { Moment } from '../changes/revision.ts';
import { CLUSTER_UID_LENGTH } from '../clusters/cluster.rows.ts';
import type { KubernetesAuth, KubernetesUsername } from '../clusters/kubernetes-access.ts';
import { type Db, only, sql } from '../db/db.ts';
import type { KnownRobot, ReviewSubjectStore } from './review-subjects.ts';
import type { ReviewedCluster, ReviewedClusterStore } from './reviewed-cluster.ts';

const CLUSTER = sql(
  'kubernetes.cluster',
  `select r.value as revision, r.stamp, c.id, c.uid, c.name, c.owner_id, a.name as owner_name, a.kind as owner_kind,
          c.kube_auth, c.kube_username, c.kube_prefix
     from revision r left join cluster c on c.id = $1 left join account a on a.id = c.owner_id where r.id = 1`,
);
const ROBOT = sql(
  'kubernetes.robot',
  `select r.value as revision, r.stamp, b.id, a.id as owner_id, a.active and not a.prohibit_login as is_usable
     from revision r left join account a on a.name = $1 and a.kind = 'organization'
          left join robot b on b.owner_id = a.id and b.name = $2 where r.id = 1`,
);
const TEAMS = sql(
  'kubernetes.teams',
  `select t.name from team_member m join team t on t.id = m.team_id
    where m.account_id = $1 and t.organization_id = $2 order by t.id`,
);

interface ClusterRow extends Moment {
  id: bigint | null;
  uid: string;
  name: string;
  owner_id: bigint;
  owner_name: string;
  owner_kind: string;
  kube_auth: KubernetesAuth;
  kube_username: KubernetesUsername | null;
  kube_prefix: string | null;
}

interface RobotRow extends Moment {
  id: bigint | null;
  owner_id: bigint;
  is_usable: boolean;
}

export function createKubernetesStore(db: Db): ReviewedClusterStore & ReviewSubjectStore {
  return {
    async cluster(id): Promise<Loaded<ReviewedCluster>> {
      const row = only(await db.query<ClusterRow>(CLUSTER, [id]));
      const { revision, stamp, kube_username: username, kube_prefix: prefix } = row;
      if (row.id === null) return { revision, stamp, value: undefined };
      const kubernetes = {
        auth: row.kube_auth,
        ...(username !== null && { username }),
        ...(prefix !== null && { prefix }),
      };
      const value = {
        id: row.id,
        uid: row.uid.slice(0, CLUSTER_UID_LENGTH),
        name: row.name,
        ownerId: row.owner_id,
        ownerName: row.owner_name,
        isOrganization: row.owner_kind === 'organization',
        kubernetes,
      };
      return { revision, stamp, value };
    },

    async robot(organization, name): Promise<Loaded<KnownRobot>> {
      const row = only(await db.query<RobotRow>(ROBOT, [organization, name]));
      const { revision, stamp, id, owner_id: ownerId, is_usable: isUsable } = row;
      return { revision, stamp, value: id === null ? undefined : { id, ownerId, isUsable } };
    },

    async teamsOf(personId, organizationId) {
      return (await db.query<{ name: string }>(TEAMS, [personId, organizationId])).map(({ name }) => name);
    },
  };
}
