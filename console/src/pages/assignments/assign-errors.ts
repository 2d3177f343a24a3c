import { ApiError } from '../../../../client/errors.ts';
import { wordOf } from '../../../../client/object-kinds.ts';
import { messageOf } from '../../parts/fault.tsx';
import { type Given, kindWord, type NewAssignment } from './assignment.ts';

interface FieldWords {
  readonly field: keyof NewAssignment;
  /** By default, what the server says. */
  readonly words?: (body: NewAssignment) => string;
}

/** Which field mends an error, and what it says there. */
const FIELDS: Readonly<Record<string, FieldWords>> = {
  no_effect: {
    field: 'role',
    words: ({ on }) =>
      on === undefined
        ? 'This role permits nothing.'
        : `Nothing that this role permits concerns a ${kindWord(on.type)}.`,
  },
  escalation: { field: 'role' },
  role_not_found: { field: 'role', words: () => 'This role was deleted in the meantime.' },
  not_a_member: { field: 'to', words: () => 'No member of the organization has this name.' },
  already_assigned: { field: 'to', words: ({ to }) => `This ${kindWord(to.type)} has the role there already.` },
};

/** What is wrong with a field of a new assignment, if the error is about that field. */
export function errorAt(field: string, error: unknown, body: NewAssignment, given: Given): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const found = FIELDS[error.reason] ?? missing(error.reason, body, given);
  return found?.field === field ? (found.words?.(body) ?? messageOf(error)) : undefined;
}

/** `team_not_found` may be about to whom, which is looked up first, or about on what. */
function missing(reason: string, { to, on }: NewAssignment, given: Given): FieldWords | undefined {
  if (!reason.endsWith('not_found')) return undefined;
  const words = (type: string) => () => `There is no ${kindWord(type)} of this name, or you may not see it.`;
  if (given.to === undefined && reason === `${wordOf(to.type)}_not_found`)
    return { field: 'to', words: words(to.type) };
  return on && { field: 'on', words: words(on.type) };
}
