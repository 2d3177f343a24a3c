import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Moment } from '../changes/revision.ts';

/**
 * The IDs of events: a revision, and a signature over its stamp and the audience.
 *
 * 1. An ID says up to where its client has heard everything, so it is good only for the same caller, the same choice of
 *    organizations and the same rights. With other rights, the client may have missed what it may see by now.
 * 2. After a failover that lost commits, the same revision has another stamp, so an ID of the lost history is no good.
 * 3. A client cannot make one up, to hear of changes before its time.
 */
export function createEventCursors(key: Buffer) {
  return { write, isValid };

  function write({ revision, stamp }: Moment, audience: string): string {
    return `${revision}-${sign(revision, stamp, audience).toString('base64url')}`;
  }

  function isValid(id: string, { revision, stamp }: Moment, audience: string): boolean {
    const expected = Buffer.from(write({ revision, stamp }, audience));
    const given = Buffer.from(id);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  function sign(revision: bigint, stamp: string, audience: string): Buffer {
    return createHmac('sha256', key).update(`${revision} ${stamp} ${audience}`).digest().subarray(0, 15);
  }
}

const MAX_REVISION = 2n ** 63n - 1n;

/** The revision that an ID names; undefined if it is none of ours. */
export function revisionIn(id: string): bigint | undefined {
  const [, digits] = /^(\d{1,19})-[\w-]{20}$/.exec(id) ?? [];
  const revision = digits === undefined ? undefined : BigInt(digits);
  return revision !== undefined && revision <= MAX_REVISION ? revision : undefined;
}
