import type { TestEnd } from './messages.ts';

export interface Report {
  begin(file: string, worker: number | undefined): void;
  end(test: TestEnd): void;
  /** The processor time of the worker so far. What was added since the last call goes to the file that it runs. */
  spend(worker: number | undefined, cpu: number): void;
  /** Processor time that no file can be blamed for. */
  add(what: string, cpu: number): void;
  progress(text: string): void;
  /** The worker has ended, and with it the file that it ran last. */
  close(worker: number | undefined): void;
  readonly counts: { readonly passed: number; readonly failed: number; readonly skipped: number };
  /** The files with a failed test. */
  failedFiles(): readonly string[];
  /** Takes back all that a file has reported, because it runs once more. */
  forget(file: string): void;
  /** Repeats every failure at the end, where it is still visible. */
  summary(): string;
  /** The files that took the most processor time, for whoever wants to make the suite faster. */
  heaviest(): string;
}

interface FileCounts {
  passed: number;
  failed: number;
  skipped: number;
  cpu: number;
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
  const spent = new Map<number | undefined, number>();
  const failures = new Map<string, string[]>();
  const progress = (text: string) => print(`  ${text}`);
  return { begin, end, spend, add, progress, close, counts, failedFiles, forget, summary, heaviest };

  function begin(file: string, worker: number | undefined): void {
    close(worker);
    current.set(worker, file);
    files.set(file, newCounts());
  }

  function spend(worker: number | undefined, cpu: number): void {
    const file = files.get(current.get(worker) ?? LOADING) ?? newCounts();
    if (!current.has(worker)) files.set(LOADING, file);
    file.cpu += cpu - (spent.get(worker) ?? 0);
    spent.set(worker, cpu);
  }

  function add(what: string, cpu: number): void {
    files.set(what, { ...newCounts(), cpu });
  }

  function end(test: TestEnd): void {
    const result = test.error !== undefined ? 'failed' : test.isSkipped ? 'skipped' : 'passed';
    counts[result] += 1;
    const file = files.get(test.file);
    if (file) file[result] += 1;
    if (isVerbose || result === 'failed') print(`${MARKS[result]} ${test.path.at(-1)} (${seconds(test.ms)})`);
    if (test.error === undefined) return;
    const failure = [`✖ ${test.path.join(' › ')}`, `  ${test.file}:${test.line}`, indent(test.error)].join('\n');
    failures.set(test.file, [...(failures.get(test.file) ?? []), failure]);
    print(failure);
  }

  function failedFiles(): readonly string[] {
    return [...failures.keys()];
  }

  function forget(name: string): void {
    const file = files.get(name);
    for (const result of ['passed', 'failed', 'skipped'] as const) counts[result] -= file?.[result] ?? 0;
    files.delete(name);
    failures.delete(name);
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
    return failures.size === 0 ? '' : `\nFailures:\n\n${[...failures.values()].flat().join('\n\n')}\n`;
  }

  function heaviest(): string {
    const ordered = [...files].sort(([, one], [, other]) => other.cpu - one.cpu);
    return ordered.map(([name, { cpu }]) => `${seconds(cpu * 1000).padStart(8)} ${name}\n`).join('');
  }
}

/** What a process does before its first test. */
const LOADING = '(starting processes and loading files)';

function newCounts(): FileCounts {
  return { passed: 0, failed: 0, skipped: 0, cpu: 0, since: performance.now() };
}

const MARKS = { passed: '✔', failed: '✖', skipped: '﹣' };

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

function indent(text: string): string {
  return text.replace(/^/gm, '    ');
}
