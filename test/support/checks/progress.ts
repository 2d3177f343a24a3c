/** Prints a line for whoever watches a long test. It also shows the runner that the test does not hang. */
export function progress(text: string): void {
  process.send?.({ type: 'progress', text });
}
