/**
 * Stands for `node:test` in a measurement. The runner watches every promise of its process (async_hooks), which makes a
 * request that waits often a third slower than it is in a server.
 */
export function after(_clean: () => unknown): void {
  // A measurement ends with its process.
}
