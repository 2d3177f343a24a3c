/** The oldest Node that has everything the server uses: `argon2` in node:crypto came last. */
export const OLDEST_NODE = '24.7.0';

/** What is wrong with a version of Node, in words; undefined if nothing is. */
export function nodeFault(version: string): string | undefined {
  const [major = 0, minor = 0] = numbers(version);
  const [oldestMajor = 0, oldestMinor = 0] = numbers(OLDEST_NODE);
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `Node ${OLDEST_NODE} or newer is required, this is v${version}`;
}

/**
 * Ends the process if its Node is too old. To be called before anything is imported that an old Node lacks: a missing
 * export fails before any code runs, and says nothing that helps.
 */
export function requireNode(): void {
  const fault = nodeFault(process.versions.node);
  if (fault === undefined) return;
  process.stderr.write(`atrium: ${fault}\n`);
  process.exit(2);
}

function numbers(version: string): number[] {
  return version.split('.').map(Number);
}
