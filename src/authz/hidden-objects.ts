import type { MissingLink } from '../rebac/explain-missing.ts';
import type { Step } from '../rebac/explain-proof.ts';

/** What an object that the caller may not see is called in a sentence. */
export const HIDDEN = '(hidden)';
const NUMBER = 'hidden';

/** Whether this stands for an object that the caller may not see. */
export function isHidden(object: string): boolean {
  return object.endsWith(`:${NUMBER}`);
}

export function objectsIn({ object, tuple }: Step): string[] {
  return [object, ...(tuple === undefined ? [] : [tuple.object, baseOf(tuple.user)])];
}

export function missingObjects(missing: MissingLink | undefined): string[] {
  return [...(missing?.add ?? []), ...(missing?.excludedBy ?? [])].map(({ object }) => object);
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
  return {
    steps: steps.map((step) => {
      const { tuple } = step;
      return tuple === undefined
        ? hideIn(step)
        : { ...hideIn(step), tuple: { ...hideIn(tuple), user: hide(tuple.user) } };
    }),
    missing: missing && {
      ...missing,
      add: missing.add.map(hideIn),
      excludedBy: missing.excludedBy.map(hideIn),
    },
  };
}

function baseOf(subject: string): string {
  return subject.split('#')[0] ?? '';
}
