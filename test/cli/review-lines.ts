import type { Line } from './story-lines.ts';

/** Reviewing access, and looking for what nobody uses. */
export const REVIEW_LINES: readonly Line[] = [
  ['ann', 'review start --team operators --name "Operators" --due 30d'],
  ['ann', 'review start --team operators --unused 90'],
  ['ann', 'review start --unused 90'],
  ['ann', 'review list'],
  ['ann', 'review show 1'],
  ['ann', 'review show 1 1'],
  ['ann', 'review keep 1 1 --comment "still on call"'],
  ['ann', 'review end 1 2 --yes'],
  ['ann', 'review end 1 2 --yes'],
  ['cat', 'review show 1'],
  ['ann', 'review close 1 --yes'],
  ['ann', 'review export 1 --csv'],
  ['ann', 'unused'],
  ['ann', 'unused --kind people'],
  ['cat', 'unused --days 0 --kind permission'],
];
