import type { Answer } from '../client/client.ts';
import { wordOf } from '../client/object-kinds.ts';
import { nameOfAction, nameOfRelation } from '../client/permissions.ts';
import { untilWords } from './expiry.ts';
import { shortTime } from './moments.ts';
import type { Style } from './output.ts';
import { plain } from './text.ts';

export type Impact = Answer<'POST /authz/preview'>;
/** What a preview and an access request tell about those who gain or lose something. */
export type Effects = Pick<Impact, 'users' | 'total'>;
type Effect = Impact['unattended'][number];
type Kept = Impact['users'][number]['keeps'][number];

export function linesOf(impact: Impact, style: Style, at?: string): string[] {
  // Those that are enforced are among the rejections, but what ends by itself is not rejected.
  const { total, unattended, refusals, guardrails } = impact;
  const watched = guardrails.filter(({ enforce }) => !enforce || at !== undefined);
  const count = total === 1 ? '1 person' : `${total} people`;
  return [
    ...effectLines(impact, style, at),
    ...(unattended.length > 0 ? [style.bad('no user could do this any more, except site administrators:')] : []),
    ...unattended.map((effect) => style.bad(`  ! ${wordsOf(effect)}`)),
    ...refusals.map(({ message }) => style.bad(`would be rejected: ${plain(message)}`)),
    ...watched.map(({ name, sentence }) => style.bad(`would violate the guardrail ${plain(name)}: ${plain(sentence)}`)),
    summaryOf(total, count, at),
  ];
}

/** Who gains, loses and keeps what. */
export function effectLines({ users, total }: Effects, style: Style, at?: string): string[] {
  const hidden = total - users.length;
  return [
    ...users.flatMap(({ user, gains, loses, keeps, more, token_creators: creators = [] }) => [
      style.bold(plain(user.type === 'robot_ac' ? `robot ${user.name}` : user.name)),
      ...gains.map((effect) => style.good(`  + ${wordsOf(effect)}${untilWords(effect)}`)),
      ...loses.map((effect) =>
        style.bad(`  - ${wordsOf(effect)}${at === undefined ? anywayWords(effect) : endWords(effect)}`),
      ),
      ...keeps.map((effect) => `  ~ ${wordsOf(effect)}${keptWords(effect)}`),
      ...(more > 0 ? [style.dim(`  and ${more} more`)] : []),
      // Every holder of a token of the robot gains the same.
      ...(creators.length > 0 ? [`  tokens created by ${creators.map(({ name }) => plain(name)).join(', ')}`] : []),
    ]),
    ...(hidden > 0 ? [style.dim(`and ${hidden} more people`)] : []),
  ];
}

function summaryOf(total: number, count: string, at: string | undefined): string {
  if (at !== undefined) return total === 0 ? `nothing ends until ${shortTime(at)}` : `${count} affected`;
  return total === 0
    ? 'no user gains or loses anything; nothing was changed'
    : `${count} affected; nothing was changed`;
}

function endWords({ expires_at: end }: Effect): string {
  return end ? `, ends ${shortTime(end)}` : '';
}

function anywayWords({ expires_at: end }: Effect): string {
  return end ? `, which would have ended ${shortTime(end)}` : '';
}

function keptWords({ expires_at: end, expires_at_before: before }: Kept): string {
  const now = end ? `now until ${shortTime(end)}` : 'now without an end';
  return `: ${now}, before ${before ? `until ${shortTime(before)}` : 'without one'}`;
}

/** A permission as in a role, and anything else as it is asked of `atrium can`. */
function wordsOf({ object, relation, permission }: Effect | Kept): string {
  if (permission) return plain(nameOfAction(permission.action));
  return plain(
    `${nameOfRelation(object.type, relation)} ${object.type === 'organization' ? 'org' : wordOf(object.type)}:${object.name}`,
  );
}
