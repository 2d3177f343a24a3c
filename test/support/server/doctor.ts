import assert from 'node:assert/strict';
import { runDoctor } from '../../../src/operations/commands/doctor-command.ts';
import type { Finding, Level } from '../../../src/operations/doctor/finding.ts';

export interface Report {
  readonly code: number;
  readonly findings: readonly Finding[];
  /** The worst level reported under that name. */
  level(check: string): Level | undefined;
  text(check: string): string;
}

/** What `atrium doctor --json` reports with these settings, run in this process. */
export async function examine(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Report> {
  const lines: string[] = [];
  const code = await runDoctor(
    ['--json', ...args],
    { PORT: '0', ADMIN_PORT: '0', ...env },
    {
      say: (line) => void lines.push(line),
      complain: (line) => assert.fail(line),
      isTerminal: false,
    },
  );
  const { healthy, findings } = JSON.parse(lines.join('\n')) as { healthy: boolean; findings: Finding[] };
  assert.equal(code, healthy ? 0 : 1);
  for (const { level, advice } of findings) {
    if (level === 'ok') assert.equal(advice, undefined);
    else assert.match(advice ?? '', /^\S.*[^ ]$/, 'what to do');
  }
  const of = (check: string) => findings.filter((finding) => finding.check === check);
  return {
    code,
    findings,
    level: (check) =>
      (['fault', 'warning', 'ok'] as const).find((level) => of(check).some((one) => one.level === level)),
    text: (check) =>
      of(check)
        .map(({ message, advice }) => `${message} ${advice ?? ''}`)
        .join('\n'),
  };
}

export function faultsOf({ findings }: Report): string[] {
  return findings.filter(({ level }) => level === 'fault').map(({ check }) => check);
}
