import { orgPath } from '../../data/org.ts';
import { me } from '../../data/session.ts';

/** The user's own clusters share one page; every other cluster has a page in its organization. */
export function clusterPath({ id, ownerID, ownerName }: { id: bigint; ownerID: bigint; ownerName: string }): string {
  return ownerID === me.value?.id ? '/me/clusters' : orgPath(ownerName, `/clusters/${id}`);
}
