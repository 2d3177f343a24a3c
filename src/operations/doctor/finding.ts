export type Level = 'ok' | 'warning' | 'fault';

/** The result of one check of the deployment and, unless it is ok, what to do about it. */
export interface Finding {
  readonly check: string;
  readonly level: Level;
  readonly message: string;
  readonly advice?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });
export const warning = (check: string, message: string, advice: string): Finding => ({
  check,
  level: 'warning',
  message,
  advice,
});
export const fault = (check: string, message: string, advice: string): Finding => ({
  check,
  level: 'fault',
  message,
  advice,
});

/** No deployment where one was looked for: as it should be before the first start, and the wrong place otherwise. */
export function examineAbsence(check: string, where: string, isNew: boolean): Finding {
  if (isNew) return ok(check, `${where}; the first start creates the deployment`);
  const advice =
    'Run this with the settings of the server (DATA_DIR or DATABASE_URL, and all others), or "atrium doctor --new" before the first start.';
  return fault(check, `${where}: there is no deployment here`, advice);
}

/** A check that cannot be completed is a finding too; the other checks continue. */
export async function look(check: string, work: () => Promise<readonly Finding[]>): Promise<readonly Finding[]> {
  try {
    return await work();
  } catch (error) {
    return [
      fault(
        check,
        `could not be checked: ${(error as Error).message}`,
        'Fix what the message reports, then run "atrium doctor" again.',
      ),
    ];
  }
}
