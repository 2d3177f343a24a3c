import type { TestEnd } from './messages.ts';

export interface Report {
  begin(file: string, worker: number | undefined): void;
  end(test: TestEnd): void;
  progress(text: string): void;
  /** The worker has ended, and with it the file that it ran last. */
  close(worker: number | undefined): void;
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  /** Repeats every failure at the end, where it is still visible. */
  summary(): string;
}

interface FileCounts {
  passed: number;
  failed: number;
  skipped: number;
  readonly since: number;
}

export interface ReportOptions {
  readonly print: (line: string) => void;
  /** Prints a line for every test, not only for every file. */
  readonly isVerbose: boolean;
}

export function createReport({ print, isVerbose }: ReportOptions): Report {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const files = new Map<string, FileCounts>();
  const current = new Map<number | undefined, string>();
  const failures: string[] = [];
  return { begin, end, progress: (text) => print(`  ${text}`), close, counts, summary };

  function begin(file: string, worker: number | undefined): void {
    close(worker);
    current.set(worker, file);
    files.set(file, { passed: 0, failed: 0, skipped: 0, since: performance.now() });
  }

  function end(test: TestEnd): void {
    const result = test.error !== undefined ? 'failed' : test.isSkipped ? 'skipped' : 'passed';
    counts[result] += 1;
    const file = files.get(test.file);
    if (file) file[result] += 1;
    if (isVerbose || result === 'failed') print(`${MARKS[result]} ${test.path.at(-1)} (${seconds(test.ms)})`);
    if (test.error === undefined) return;
    const failure = [`✖ ${test.path.join(' › ')}`, `  ${test.file}:${test.line}`, indent(test.error)].join('\n');
    failures.push(failure);
    print(failure);
  }

  function close(worker: number | undefined): void {
    const name = current.get(worker);
    const file = name === undefined ? undefined : files.get(name);
    current.delete(worker);
    if (!file) return;
    const result = file.failed > 0 ? 'failed' : 'passed';
    const skipped = file.skipped > 0 ? `, ${file.skipped} skipped` : '';
    const failed = file.failed > 0 ? `, ${file.failed} failed` : '';
    print(
      `${MARKS[result]} ${name}: ${file.passed} passed${failed}${skipped}, ${seconds(performance.now() - file.since)}`,
    );
  }

  function summary(): string {
    return failures.length === 0 ? '' : `\nFailures:\n\n${failures.join('\n\n')}\n`;
  }
}

const MARKS = { passed: '✔', failed: '✖', skipped: '﹣' };

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
