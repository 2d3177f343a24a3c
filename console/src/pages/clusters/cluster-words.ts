import { hasNotHappened, relativeTime } from '../../parts/when.tsx';

/** What a cluster can be in, as the API names it. */
export const PHASES = ['Active', 'Inactive', 'NotReady', 'NotConnected', 'Registered', 'NotImported', 'Lost'] as const;

const MEANINGS: Readonly<Record<string, string>> = {
  Active: 'Healthy.',
  Inactive: 'It is switched off on purpose.',
  NotReady: 'Its agent reports, but it is not ready for work.',
  NotConnected: 'Its agent has missed several reports.',
  Registered: 'It is known, but its agent has never reported.',
  NotImported: 'It was found, but not imported yet.',
  Lost: 'Its agent has not reported for more than a day.',
};

interface Named {
  readonly name: string;
  readonly displayName: string;
}

export function titleOf({ displayName, name }: Named): string {
  return displayName || name;
}

interface Reporting {
  readonly heartbeatAt: string;
  readonly status: { readonly response: { readonly phase: string; readonly reason: string; readonly message: string } };
}

/** The state of a cluster in one sentence or two. */
export function stateOf({ heartbeatAt, status }: Reporting): string {
  const { phase, reason, message } = status.response;
  const isSilent = phase === 'Lost' || phase === 'NotConnected';
  const last = hasNotHappened(heartbeatAt) ? '' : ` Last heartbeat ${relativeTime(heartbeatAt)}.`;
  const cause = [reason, message].filter((text) => text !== '' && text !== 'Unknown').join(': ');
  return `${MEANINGS[phase] ?? ''}${last}${cause !== '' && !isSilent ? ` ${cause}` : ''}`.trim();
}
