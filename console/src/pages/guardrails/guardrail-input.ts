import type { NewGuardrailInput } from '../../../../client/api.gen.ts';
import type { Guardrail } from './guardrail-state.tsx';

/** A guardrail as the API takes it: with this, it is as it was before. */
export function inputOf({
  name,
  description,
  enforce,
  never,
  always,
  at_least,
  at_most,
}: Guardrail): NewGuardrailInput {
  const people = never ?? always;
  const number = at_least ?? at_most;
  const namesOf = (list: readonly { readonly name: string }[] = []) => list.map((one) => one.name);
  const objectOf = ({ type, id }: { readonly type: string; readonly id?: bigint | undefined }) => ({
    type: type as 'organization',
    ...(id !== undefined && type !== 'organization' && { id }),
  });
  return {
    ...{ name, description, enforce },
    ...(people && {
      [never ? 'never' : 'always']: {
        users: namesOf(people.users),
        robots: namesOf(people.robots),
        ...(people.team && { team: people.team.id }),
        relation: people.relation,
        object: objectOf(people.object),
      },
    }),
    ...(number && {
      [at_least ? 'at_least' : 'at_most']: {
        count: number.count,
        relation: number.relation,
        object: objectOf(number.object),
      },
    }),
  };
}
