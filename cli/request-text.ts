import type { Answer } from '../client/client.ts';
import { nameOfRelation } from '../client/permissions.ts';
import { placeText } from './assignment-text.ts';
import { misuse } from './failure.ts';
import { type Effects, effectLines } from './impact.ts';
import { marked } from './marks.ts';
import { shortTime } from './moments.ts';
import type { Columns, Shown, Style } from './output.ts';
import type { Session } from './session.ts';
import { plain } from './text.ts';

export type Request = Answer<'GET /authz/requests/{id}'>;

export const REQUEST = { about: 'ID of the request, such as req_12' } as const;

/** With several organizations. */
export const FOUND = { organization: (row: Request) => row.organization } as const;
export const COLUMNS: Columns<Request> = {
  id: (row) => row.id,
  state: stateOf,
  by: (row) => marked(row.by),
  asks: (row) => `${nameOfRelation(row.asks.object.type, row.asks.relation)} ${placeText(row.asks.object)}`,
  until: (row) => shortTime(row.until),
  reason: (row) => row.reason,
};

export async function requestOf(session: Session, id: string): Promise<Request> {
  return await session.client().call('GET /authz/requests/{id}', { path: { id }, query: { org: session.org() } });
}

/** `user:dan asks to connect cluster:prod until 2027-01-31 18:00:00Z: INC-1234` */
export function sentenceOf({ by, asks, until, reason }: Request): string {
  const names = asks.namespaces ?? [];
  const where =
    names.length === 0 ? '' : ` in the ${names.length === 1 ? 'namespace' : 'namespaces'} ${names.join(', ')}`;
  const verb = nameOfRelation(asks.object.type, asks.relation);
  return `${marked(by)} asks to ${verb} ${placeText(asks.object)}${where} until ${shortTime(until)}: ${reason}`;
}

export function shownRequest(request: Request): Shown {
  return { data: request, names: [request.id], lay: (style) => requestLines(request, style) };
}

/** What is asked, what an approval would do to whom, who can decide, and what was decided. */
export function requestLines(request: Request, style: Style): string[] {
  const { id, changes, impact, decisions, because } = request;
  const effects = effectLines(impact as unknown as Effects, style);
  return [
    `${style.bold(plain(id))}  ${stateOf(request)}`,
    plain(sentenceOf(request)),
    ...changes.map((change) => `  ${plain(changeText(change))}`),
    ...effects.map((line) => `  ${line}`),
    ...(request.state === 'open' ? [plain(approversText(request))] : []),
    ...decisions.map(({ by, decision, comment, at }) => {
      const whom = by ? marked(by) : 'an approver';
      return plain(`${decision} by ${whom} at ${shortTime(at)}${comment && `: ${comment}`}`);
    }),
    ...(because ? [plain(because)] : []),
  ];
}

function stateOf({ state, break_glass: taken }: Request): string {
  if (!taken) return state;
  return `${state}, taken without an approval${taken.acknowledged_at ? '' : ', not acknowledged'}`;
}

function changeText({ action, role, on, team, namespaces = [] }: Request['changes'][number]): string {
  if (action === 'team.add_member') return `join the team ${team?.name ?? ''}`;
  const where = namespaces.length === 0 ? '' : ` in ${namespaces.join(', ')}`;
  return `get the role ${role?.name ?? ''} on ${on ? placeText(on) : 'organization'}${where}`;
}

function approversText({
  approvals_needed: needed,
  approvers,
  approvers_count: count,
  closes_at: closes,
}: Request): string {
  const names = approvers.map(marked).join(', ') || `${count} ${count === 1 ? 'user' : 'users'}`;
  const all = needed === 1 ? `can be decided by ${names}` : `needs ${needed} approvals of ${names}`;
  return `${all}, until ${shortTime(closes)}`;
}

/** `4h` as the API takes it: `PT4H`. */
export function spanIn(text: string): string {
  const [, count, unit = ''] = /^(\d{1,6})(m|h|d|w)$/.exec(text) ?? [];
  if (count === undefined) throw misuse(`${JSON.stringify(text)} is not a time span; use 90m, 24h or 7d`);
  if (unit === 'w') return `P${Number(count) * 7}D`;
  return unit === 'd' ? `P${Number(count)}D` : `PT${Number(count)}${unit.toUpperCase()}`;
}

const SECONDS: Readonly<Record<string, number>> = { D: 86_400, H: 3600, M: 60, S: 1 };

/** A span such as `4h`, or the longest that the rules allow, such as PT90M, as `90m` if that is shorter. */
export function spanWithin(span: string, longest: string): string {
  const secondsOf = (text: string) =>
    [...text.matchAll(/(\d+)([DHMS])/g)].reduce(
      (sum, [, count, unit = '']) => sum + Number(count) * (SECONDS[unit] ?? 0),
      0,
    );
  const most = secondsOf(longest);
  if (most >= secondsOf(spanIn(span))) return span;
  return most % 3600 === 0 ? `${most / 3600}h` : `${Math.floor(most / 60)}m`;
}

/** Follows what changes in the organization, and looks again whenever a request does. */
export async function waitForDecision(session: Session, org: string, asked: Request): Promise<Request> {
  const ended = new AbortController();
  const stream = session.client().events({ org, follow: true, signal: ended.signal });
  const query = { org };
  try {
    for await (const event of stream) {
      if (event.type === 'change' && !event.changes.some(({ kind }) => kind === 'request')) continue;
      const now = await session.client().call('GET /authz/requests/{id}', { path: { id: asked.id }, query });
      if (now.state !== 'open') return now;
    }
    return asked;
  } finally {
    ended.abort();
  }
}
