import { join } from 'node:path';
import type { FastifyRequest } from 'fastify';
import type { Judge } from '../authz/judge.ts';
import { bucketAddress, isAddress } from '../base/bucket-address.ts';
import { AppError } from '../base/errors.ts';
import { createSignedTexts } from '../base/signed-text.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createFingerprint, ERASED_PEOPLE } from '../users/erasure/erased-identifiers.ts';
import { createArchiveReading } from './archive/archive-file.ts';
import { readArchiveLine } from './archive/archive-line.rows.ts';
import { createAuditArchiveStore } from './archive/audit-archive.store.ts';
import { type ArchivePlace, createAuditArchive } from './archive/audit-archive.ts';
import { type Bucket, bucketPlace } from './archive/bucket-place.ts';
import { filePlace } from './archive/file-place.ts';
import { createRetentionStore } from './archive/retention.store.ts';
import { createRetention } from './archive/retention.ts';
import { createSegmentSigner } from './archive/segment.ts';
import { auditRoutes } from './audit.routes.ts';
import { hashLeft } from './audit.rows.ts';
import { administratorNamed, createAuditStore } from './audit.store.ts';
import { createAudit } from './audit.ts';
import { auditSize } from './audit-size.store.ts';
import { denialOf } from './denials/denials.routes.ts';
import { createDenialStore } from './denials/denials.store.ts';
import { createDenials } from './denials/denials.ts';
import { histogramRoutes } from './histogram.routes.ts';
import { ocsfEvent } from './ocsf-event.view.ts';
import { auditPushAge, createAuditPushStore } from './push/audit-push.store.ts';
import { createAuditPush } from './push/audit-push.ts';
import { createObjectNameStore } from './sentences/object-names.store.ts';
import { createObjectNames } from './sentences/object-names.ts';
import { createAttestationSigner } from './verification/attestation-signer.ts';
import { attestedIn } from './verification/attestations.store.ts';
import { createAttesting } from './verification/attestations.ts';
import { createCheckpointSigner } from './verification/checkpoint.ts';
import { verificationRoutes } from './verification/verification.routes.ts';
import { createVerificationStore } from './verification/verification.store.ts';
import { createVerification } from './verification/verification.ts';

/** A bucket, with the credential of that name of a user. */
type OpenBucket = (bucket: string, ownerId: bigint, credential: string) => Promise<Bucket>;

export function wireAudit(
  { config, db, keys, log, metrics, revisions, baseUrl }: Infrastructure,
  judge: Judge,
  openBucket: OpenBucket,
  finishErasures: () => Promise<boolean>,
) {
  metrics.stored('atrium_audit_bytes', 'Size of the audit log, with its indexes.', () => auditSize(db.query));
  const segmentSeed = keys.derive('audit segment');
  const attest = createAttestationSigner(segmentSeed);
  const denials = createDenials({
    store: createDenialStore(revisions.write),
    onError: (error) => log.warn({ err: error }, 'denied requests were not written to the audit log; retrying'),
  });
  const audit = createAudit(
    createAuditStore(db),
    () => denials.flush(new Date()),
    (chainId) => createAttesting(chainId, () => attestedIn(db.query, chainId), hashLeft, attest),
  );
  const namesFor = createObjectNames(createObjectNameStore(db), judge);
  const broken = new Set<bigint>();
  const segmentSigner = createSegmentSigner(segmentSeed);
  const push = config.AUDIT_PUSH === undefined ? undefined : wirePush(config.AUDIT_PUSH);
  const archive = createAuditArchive({
    store: createAuditArchiveStore(db, revisions.write, {
      fingerprint: createFingerprint(keys.derive(ERASED_PEOPLE)),
      attest,
    }),
    signer: segmentSigner,
    reading: createArchiveReading(readArchiveLine, (chainId) => attestedIn(db.query, chainId)),
    deployment: baseUrl,
    finishErasures,
    isNeeded: async (before) => (await push?.isBehind(before)) ?? false,
  });
  const { AUDIT_RETENTION: keep, AUDIT_ARCHIVE: folder } = config;
  const retention =
    keep &&
    folder &&
    createRetention({
      store: createRetentionStore(db),
      ...{ archive, keep },
      placeFor: (name) => placeOf(isAddress(folder) ? `${folder.replace(/\/$/, '')}/${name}` : join(folder, name)),
      onArchived: (name, { entries, logs }) => log.info({ archive: name, entries, logs }, 'the audit log was archived'),
    });
  const verification = createVerification({
    segmentSigner,
    store: createVerificationStore(db),
    signer: createCheckpointSigner(keys.derive('audit checkpoint')),
    onBroken(chainId, { firstBrokenId, problem }) {
      if (broken.has(chainId)) return;
      broken.add(chainId);
      log.error({ organizationId: chainId, firstBrokenId, problem }, 'the audit log was changed outside the server');
    },
  });
  const cursors = createSignedTexts(keys.derive('audit verification'));
  return {
    mount(scope: Scope): void {
      auditRoutes(scope, audit, namesFor);
      histogramRoutes(scope, audit);
      verificationRoutes(scope, verification, audit, cursors);
    },
    verification,
    archive: {
      ...archive,
      placeOf,
      organizationNamed: audit.organizationNamed,
      settle: () => denials.flush(new Date()),
    },
    /** Archives entries that are older than the retention period, if that is due. */
    retain: async (now: Date) => await (retention || undefined)?.run(now),
    /** Pushes new entries to a bucket, if that is due. */
    push: async (now: Date) => await push?.run(now),
    /** What segments are verified with. */
    segmentKey: { id: segmentSigner.keyId, publicKey: segmentSigner.publicKey },
    denials,
    /** Sees every rejected request of the platform. */
    noteRejection(request: FastifyRequest, error: unknown): void {
      const denial = denialOf(request, error);
      if (denial) denials.note(denial, new Date());
    },
  };

  function wirePush(address: string) {
    const { bucket = '', key = '' } = bucketAddress(address) ?? {};
    const age = 'Seconds since all of the audit log was in AUDIT_PUSH; -1: never.';
    metrics.stored('atrium_audit_push_age_seconds', age, () => auditPushAge(db.query));
    return createAuditPush({
      store: createAuditPushStore(db),
      open: () => open(bucket),
      ...{ prefix: key, everyMinutes: config.AUDIT_PUSH_MINUTES, line: ocsfEvent },
      namesOf: namesFor({ sees: 'everything' }),
      settle: () => denials.flush(new Date()),
      onPushed: (name, entries) => log.info({ object: name, entries }, 'the audit log was pushed'),
    });
  }

  /** A file, or an object of a bucket such as `s3://backups/audit-2025.ndjson`. */
  function placeOf(text: string): ArchivePlace {
    if (!isAddress(text)) return filePlace(text);
    const address = bucketAddress(text);
    if (!address?.key) throw new AppError('invalid', `${text} must be such as s3://backups/audit-2025.ndjson`);
    return bucketPlace(() => open(address.bucket), address.key);
  }

  async function open(bucket: string): Promise<Bucket> {
    const { AUDIT_CREDENTIAL: credential } = config;
    if (!credential) throw new AppError('invalid', 'buckets need AUDIT_CREDENTIAL, such as root/archive');
    // The user who keeps the credential decides where the log goes.
    const ownerId = await administratorNamed(db.query, credential.user);
    const wrong = (why: string, cause?: unknown) => new AppError('conflict', `AUDIT_CREDENTIAL: ${why}`, { cause });
    if (ownerId === undefined) throw wrong(`${credential.user} is not an active site administrator`);
    try {
      return await openBucket(bucket, ownerId, credential.name);
    } catch (error) {
      throw wrong(error instanceof AppError ? error.message : 'it cannot be used', error);
    }
  }
}
