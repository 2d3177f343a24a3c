import type { MissingLink, Step, Tuple } from '../../../packages/rebac/src/rebac.ts';

/** What an object that the caller may not see is called in a sentence. */
export const HIDDEN = '(hidden)';
const NUMBER = 'hidden';

/** Whether this stands for an object that the caller may not see. */
export function isHidden(object: string): boolean {
  return object.endsWith(`:${NUMBER}`);
}

/** Neither the deployment nor everybody has a name that could be secret. */
export function isNamed(object: string): boolean {
  return !object.startsWith('platform:') && !object.endsWith(':*');
}

export function objectsIn({ object, tuple }: Step): string[] {
  return [object, ...(tuple === undefined ? [] : [tuple.object, baseOf(tuple.user)])];
}

export function missingObjects(missing: MissingLink | undefined): string[] {
  const tuples = [...(missing?.add ?? []), ...(missing?.trail ?? [])];
  return [
    ...tuples.flatMap(({ object, user }) => [object, baseOf(user)]),
    ...(missing?.excludedBy ?? []).map(({ object }) => object),
  ];
}

/** The same explanation, with `team:hidden` instead of a team that the caller may not see. */
export function withoutNumbers(
  steps: readonly Step[],
  missing: MissingLink | undefined,
  isVisible: (object: string) => boolean,
): { readonly steps: readonly Step[]; readonly missing: MissingLink | undefined } {
  const hide = (subject: string) => {
    const object = baseOf(subject);
    if (isVisible(object)) return subject;
    return `${object.split(':')[0]}:${NUMBER}${subject.slice(object.length)}`;
  };
  const hideIn = <T extends { readonly object: string }>(one: T): T => ({ ...one, object: hide(one.object) });
  const hideBoth = (tuple: Tuple): Tuple => ({ ...hideIn(tuple), user: hide(tuple.user) });
  return {
    steps: steps.map((step) => ({ ...hideIn(step), ...(step.tuple && { tuple: hideBoth(step.tuple) }) })),
    missing: missing && {
      add: missing.add.map(hideBoth),
      excludedBy: missing.excludedBy.map(hideIn),
      trail: missing.trail.map(hideBoth),
    },
  };
}

function baseOf(subject: string): string {
  return subject.split('#')[0] ?? '';
}
