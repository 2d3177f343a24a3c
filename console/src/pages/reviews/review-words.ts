import type { Answer, Item } from '../../../../client/client.ts';
import { orgPath } from '../../data/org.ts';
import type { Tone } from '../../parts/bits.tsx';

export type Review = Item<'GET /authz/reviews'>;
export type FullReview = Answer<'GET /authz/reviews/{id}'>;
export type ReviewItem = FullReview['items'][number];
export type ItemState = ReviewItem['state'];

const ITEM_TONES: Readonly<Record<string, Tone>> = {
  open: 'info',
  kept: 'ok',
  ended: 'quiet',
  gone: 'quiet',
  rejected: 'bad',
};

export function toneOf(state: string): Tone {
  return ITEM_TONES[state] ?? 'warn';
}

export function reviewPath(org: string, id: number | bigint): string {
  return orgPath(org, `/reviews/${id}`);
}

/** How far it is: `3 of 12 decided`. */
export function progressOf({ counts }: Pick<Review, 'counts'>): string {
  const all = Object.values(counts).reduce((sum: number, count) => sum + Number(count), 0);
  return `${all - Number(counts.open ?? 0)} of ${all} decided`;
}

/** What can be kept or ended, such as `the role cluster-operator on prod`. */
export function whatIs({ kind, team, role, on, token }: ReviewItem): string {
  if (kind === 'membership') return `member of the team ${team?.name ?? ''}`;
  if (kind === 'token') return `token ${token?.name ?? ''}`;
  return `role ${role?.name ?? ''}${on ? ` on ${on.name}` : ''}`;
}
