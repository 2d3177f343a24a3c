import type { Answer } from '../../../../client/client.ts';
import { Chip } from '../../parts/bits.tsx';

export type Guardrail = Answer<'GET /authz/guardrails/{id}'>;

const SHOWN_PEOPLE = 5;

/** Green if the guardrail holds, red with the people who violate it. */
export function GuardrailState({ guardrail: { state, enforce } }: { guardrail: Pick<Guardrail, 'state' | 'enforce'> }) {
  const names = state.violated_by.slice(0, SHOWN_PEOPLE).map(({ user }) => user.name);
  const others = state.total - names.length;
  return (
    <>
      <span class="line">
        {state.holds ? <Chip tone="ok">holds</Chip> : <Chip tone="bad">violated</Chip>}
        {!enforce && <Chip>only watched</Chip>}
        {state.vacuous && <Chip tone="warn">matches no user</Chip>}
      </span>
      {!state.holds && (
        <bdi class="small block">
          {state.total === 0
            ? `Only ${state.count ?? 0} can.`
            : `By ${[...names, ...(others > 0 ? [`${others} more`] : [])].join(', ')}.`}
        </bdi>
      )}
    </>
  );
}
