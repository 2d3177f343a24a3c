/** The files that one process runs one after the other. */
export type Batch = readonly string[];

/** Starting a process and loading the server takes most of a second; a file takes one or two. */
const FILES_PER_PROCESS = 12;

/**
 * Folders whose files start processes of their own and take the longest. They go first, so that the run does not wait
 * for them at the end.
 */
const SLOW_FIRST = [
  'test/process/',
  'test/cli/',
  'test/runner/',
  'test/backup/',
  'test/api/marketplace/',
  'test/db/',
  'test/api/',
];

export function toBatches(files: readonly string[]): Batch[] {
  const rank = (file: string) => {
    const index = SLOW_FIRST.findIndex((folder) => file.startsWith(folder));
    return index === -1 ? SLOW_FIRST.length : index;
  };
  const ordered = [...files].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  const batches: Batch[] = [];
  for (let start = 0; start < ordered.length; start += FILES_PER_PROCESS) {
    batches.push(ordered.slice(start, start + FILES_PER_PROCESS));
  }
  return batches;
}
