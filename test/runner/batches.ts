/** The files that one process runs one after the other. */
export type Batch = readonly string[];

/** Starting a process and loading the server takes as long as a small file, so a process runs many. */
const FILES_PER_PROCESS = 48;
/** The last part of the list is in half batches, so that no process runs alone for long at the end. */
const LAST_PART = 1 / 3;

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

/** Every file in exactly one batch. With few files, each worker still gets some. */
export function toBatches(files: readonly string[], workers: number): Batch[] {
  const rank = (file: string) => {
    const index = SLOW_FIRST.findIndex((folder) => file.startsWith(folder));
    return index === -1 ? SLOW_FIRST.length : index;
  };
  const ordered = [...files].sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
  const isSmall = ordered.length <= FILES_PER_PROCESS;
  if (isSmall) return deal(ordered, Math.min(workers, Math.ceil(ordered.length / 4)));
  const inBrowser = ordered.filter((file) => file.startsWith(BROWSER_FOLDER));
  const others = ordered.filter((file) => !file.startsWith(BROWSER_FOLDER));
  const last = Math.floor(others.length * LAST_PART);
  const [first, rest] = [others.slice(0, -last), others.slice(-last)];
  return [
    ...(inBrowser.length > 0 ? [inBrowser] : []),
    ...deal(first, Math.max(workers, Math.ceil(first.length / FILES_PER_PROCESS))),
    ...deal(rest, Math.max(workers, Math.ceil(rest.length / (FILES_PER_PROCESS / 2)))),
  ];
}

/** Like cards: the first file to the first batch, the second to the second. */
function deal(files: readonly string[], batches: number): Batch[] {
  return Array.from({ length: batches }, (_, batch) => files.filter((_file, index) => index % batches === batch));
}
