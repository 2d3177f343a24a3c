import { administratorNamed } from '../../audit/audit.store.ts';
import { auditPushAge } from '../../audit/push/audit-push.store.ts';
import type { Config } from '../../base/config/config.ts';
import type { Query } from '../../db/db.ts';
import { type Finding, fault, ok, warning } from './finding.ts';

/** A push that was left out three times is late. */
const LATE = 3;
const MINUTE_S = 60;
const CHECK = 'audit storage';

/** Whether the log can go where the settings say. The buckets are not called. */
export async function examineBuckets(
  query: Query,
  hasCredential: (ownerId: bigint, name: string) => Promise<boolean>,
  { AUDIT_CREDENTIAL: credential, AUDIT_PUSH: push, AUDIT_PUSH_MINUTES: minutes }: Config,
): Promise<Finding[]> {
  if (credential === undefined) return [];
  const { user, name } = credential;
  const ownerId = await administratorNamed(query, user);
  if (ownerId === undefined) {
    const advice = 'Set AUDIT_CREDENTIAL to a credential of an active site administrator.';
    return [fault(CHECK, `${user} is not an active site administrator, so nothing gets into the buckets`, advice)];
  }
  if (!(await hasCredential(ownerId, name))) {
    const advice = `As ${user}, add it with "atrium credential add".`;
    return [fault(CHECK, `${user} has no credential ${name}, so nothing gets into the buckets`, advice)];
  }
  const age = push === undefined ? 0 : await auditPushAge(query);
  const advice = 'Look for "the audit log was not pushed" in the log of the servers.';
  if (age < 0) return [warning(CHECK, 'the audit log has never been pushed to AUDIT_PUSH completely', advice)];
  if (age > LATE * minutes * MINUTE_S) {
    return [
      warning(CHECK, `the last complete push of the audit log was ${Math.round(age / MINUTE_S)} min ago`, advice),
    ];
  }
  return [ok(CHECK, `${user} has the credential ${name}`)];
}
