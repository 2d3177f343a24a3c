import { parseArgs } from 'node:util';
import { rejectExisting } from '../../audit/archive/file-place.ts';
import { bucketAddress, isAddress } from '../../base/bucket-address.ts';
import { AppError } from '../../base/errors.ts';
import type { RunInServer } from '../command-socket.ts';
import { callerPath, onlyFile } from './terminal.ts';

const ARCHIVE = 'atrium audit archive --before 2026-01-01 --to audit-2025.ndjson';
const RESTORE = 'atrium audit restore audit-2025.ndjson';
const DATE = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d))?$/;

/** `atrium audit archive|restore`. There is no API for it: a caller of one could remove their own traces. */
export async function auditIn([subcommand, ...args]: readonly string[]): Promise<RunInServer> {
  if (subcommand === 'archive') return archiveIn(args);
  if (subcommand === 'restore') return restoreIn(args);
  const problem = subcommand === undefined ? 'missing subcommand' : `unknown subcommand "${subcommand}"`;
  throw new AppError('invalid', `${problem}, for example: ${ARCHIVE}`);
}

function archiveIn(args: readonly string[]): RunInServer {
  const options = {
    before: { type: 'string' },
    to: { type: 'string' },
    org: { type: 'string', multiple: true },
  } as const;
  const { before: date, to, org } = parseArgs({ args: [...args], options }).values;
  if (date === undefined || to === undefined)
    throw new AppError('invalid', `--before and --to are required: ${ARCHIVE}`);
  const before = momentIn(date);
  if (before > new Date())
    throw new AppError('invalid', `${date} is in the future: archive what is before a past moment`);
  const path = targetOf(to);
  if (!isAddress(path)) rejectExisting(path);
  return async ({ features: { auditArchive } }, print) => {
    const began = performance.now();
    await auditArchive.settle();
    const chainIds = await idsOf(org, auditArchive.organizationNamed);
    const done = await auditArchive.archive({ place: auditArchive.placeOf(path), before, chainIds }, new Date());
    if (!done) return print(`nothing is older than ${before.toISOString()}: no archive was written`);
    const { entries, logs, sha256 } = done;
    print(`${path}: ${counted(entries, 'entry', 'entries')} of ${counted(logs, 'log', 'logs')}, in ${since(began)} s`);
    print(`SHA-256 ${sha256}; verified, and removed from the database`);
  };
}

function restoreIn(args: readonly string[]): RunInServer {
  const options = { org: { type: 'string', multiple: true } } as const;
  const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
  const path = targetOf(onlyFile(positionals, RESTORE));
  return async ({ features: { auditArchive } }, print) => {
    const began = performance.now();
    const chainIds = await idsOf(values.org, auditArchive.organizationNamed);
    const { entries, logs } = await auditArchive.restore(auditArchive.placeOf(path), chainIds);
    print(
      `restored ${counted(entries, 'entry', 'entries')} of ${counted(logs, 'log', 'logs')} from ${path}, in ${since(began)} s`,
    );
  };
}

async function idsOf(names: readonly string[] | undefined, named: (text: string) => Promise<bigint>) {
  return names === undefined ? undefined : await Promise.all(names.map(named));
}

/** A file of the operator, or an object of a bucket. */
function targetOf(text: string): string {
  if (!isAddress(text)) return callerPath(text);
  if (!bucketAddress(text)?.key)
    throw new AppError('invalid', `${text} must be such as s3://backups/audit-2025.ndjson`);
  return text;
}

/** A day begins at midnight, UTC. */
function momentIn(text: string): Date {
  const moment = new Date(DATE.test(text) ? text : Number.NaN);
  const isDay =
    !Number.isNaN(moment.getTime()) && new Date(text.slice(0, 10)).toISOString().startsWith(text.slice(0, 10));
  if (!isDay) {
    throw new AppError('invalid', `--before must be a date such as 2026-01-31, or 2026-01-31T12:00:00Z, not "${text}"`);
  }
  return moment;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function since(began: number): string {
  return ((performance.now() - began) / 1000).toFixed(1);
}
