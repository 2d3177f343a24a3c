import { AppError } from '../base/errors.ts';
import type { Actor } from '../changes/audit-entry.ts';
import { type Person, rejectUnusable } from '../identity/callers.ts';
import { type ClusterOfGrant, grantOf } from './grants.ts';
import type { Issued, Issuer, Proof } from './issuer.ts';
import { allowedSubjects } from './subjects.ts';

export interface BusStore {
  /**
   * Maps cluster IDs to the words that stand for clusters in subjects: the UID, or `<uid>_<owner ID>` if another owner
   * imported the UID before. No two clusters have the same word.
   */
  uids(clusterIds: readonly bigint[]): Promise<ReadonlyMap<bigint, string>>;
  /** Records in the audit log who took whose credentials. */
  recordIssue(actor: Actor, personId: bigint, user: string): Promise<void>;
}

export interface VisibleClusters {
  clusters(person: Pick<Person, 'id' | 'organizations'>): Promise<readonly ClusterOfGrant[]>;
}

interface BusParts {
  readonly issuer: Issuer;
  readonly store: BusStore;
  /** The clusters that authorization lets a user view, and what else the user may do with each. */
  readonly visible: VisibleClusters;
  readonly personNamed: (name: string) => Promise<Person | undefined>;
}

export type Bus = ReturnType<typeof createBus>;

/** The list is sent in the first line of every connection, which may be 1 MiB long in the printed configuration. */
const MAX_CLUSTERS = 4000;
const EVERYTHING = ['>'];

/** Credentials for the message bus, limited to what their owner may do there. */
export function createBus({ issuer, store, visible, personNamed }: BusParts) {
  return { own, ofAdministrator, ofUser };

  async function own(person: Person, proof: Proof, now: Date): Promise<Issued> {
    const clusters = (await visible.clusters(person)).slice(0, MAX_CLUSTERS);
    const uids = await store.uids(clusters.map(({ id }) => id));
    const rights = clusters.map(({ id, relations }) => ({ uid: uids.get(id) ?? '', relations }));
    const grant = grantOf(clusters);
    const bearer = { id: person.id, name: person.login, grant, ...allowedSubjects(person.id, rights) };
    return await issuer.issue('application', bearer, proof, now);
  }

  /**
   * A user of the administrative account. Each site administrator has their own, so that each can be revoked
   * separately.
   */
  async function ofAdministrator(person: Person, proof: Proof, actor: Actor, now: Date): Promise<Issued> {
    const bearer = { id: person.id, name: person.login, publish: EVERYTHING, subscribe: EVERYTHING };
    const issued = await issuer.issue('administration', bearer, proof, now);
    await store.recordIssue(actor, person.id, issued.user);
    return issued;
  }

  async function ofUser(name: string, proof: Proof, actor: Actor, now: Date): Promise<Issued> {
    const person = await personNamed(name);
    if (!person) throw new AppError('notFound', 'user does not exist', { reason: 'user_not_found' });
    rejectUnusable(person);
    const issued = await own(person, proof, now);
    await store.recordIssue(actor, person.id, issued.user);
    return issued;
  }
}
