/** The files that one process runs one after the other. */
export type Batch = readonly string[];

/** Starting a process and loading the server takes as long as a small file, so a process runs several. */
const MOST_FILES = 40;
const FEWEST_FILES = 4;
/** How much of what is left the next round of batches takes. */
const SHARE = 2 / 3;

/** Its files are one batch. They share a browser, whose start and first page take seconds. */
const BROWSER_FOLDER = 'test/console/';
/** Folders whose files start processes of their own and take the longest. Each batch begins with its share of them. */
const SLOW_FIRST = [
  'test/process/',
  'test/cli/',
  'test/runner/',
  'test/backup/',
  'test/db/',
  'test/api/marketplace/',
  'test/api/',
];

/**
 * Every file in exactly one batch. A process that is done takes the next batch, and they become smaller towards the end:
 * how long a file takes is not known in advance, and no process should run alone for long.
 */
export function toBatches(files: readonly string[], workers: number): Batch[] {
  const rank = (file: string) => {
    const index = SLOW_FIRST.findIndex((folder) => file.startsWith(folder));
    return index === -1 ? SLOW_FIRST.length : index;
  };
  const ordered = [...files].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  const isSmall = ordered.length <= MOST_FILES;
  if (isSmall) return deal(ordered, Math.min(workers, Math.ceil(ordered.length / FEWEST_FILES)));
  const inBrowser = ordered.filter((file) => file.startsWith(BROWSER_FOLDER));
  let left = ordered.filter((file) => !file.startsWith(BROWSER_FOLDER));
  const batches: Batch[] = inBrowser.length > 0 ? [inBrowser] : [];
  while (left.length > 0) {
    const each = Math.min(MOST_FILES, Math.max(FEWEST_FILES, Math.ceil((left.length * SHARE) / workers)));
    const round = left.slice(0, each * workers);
    batches.push(...deal(round, Math.min(workers, Math.ceil(round.length / FEWEST_FILES))));
    left = left.slice(round.length);
  }
  return batches;
}

/** Like cards: the first file to the first batch, the second to the second. */
function deal(files: readonly string[], batches: number): Batch[] {
  return Array.from({ length: batches }, (_, batch) => files.filter((_file, index) => index % batches === batch));
}
