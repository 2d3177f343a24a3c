import { readFileSync } from 'node:fs';

/** The built-in database alone holds about 250 files open; every connection of a client is one more. */
export const WANTED_OPEN_FILES = 1024;
export const OPEN_FILES_ADVICE = `raise the limit to at least ${WANTED_OPEN_FILES} (ulimit -n, or LimitNOFILE of systemd)`;

/** How many files this process may open; undefined if there is no limit, or none that can be read. */
export function openFilesLimit(): number | undefined {
  const limit = process.platform === 'linux' ? fromProc() : fromReport();
  return limit !== undefined && Number.isFinite(limit) ? limit : undefined;
}

/** Whether an operation failed because this process, or the whole machine, has too many files open. */
export function lacksOpenFiles(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EMFILE' || error.code === 'ENFILE');
}

function fromProc(): number | undefined {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? undefined : Number(soft);
  } catch {
    return undefined;
  }
}

function fromReport(): number | undefined {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  return Number(userLimits?.open_files?.soft ?? Number.NaN);
}
