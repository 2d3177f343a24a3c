/**
 * Prints a line for those who watch a long test, on standard error if no runner started it. It also shows the runner that
 * the test does not hang.
 */
export function progress(text: string): void {
  if (process.send === undefined) process.stderr.write(`${text}\n`);
  else process.send({ type: 'progress', text });
}
