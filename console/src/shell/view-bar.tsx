import { useSignal } from '@preact/signals';
import { stopViewing, unlockView, viewing } from '../data/view-as.ts';
import { Button } from '../parts/button.tsx';
import { Confirm } from '../parts/confirm.tsx';

/** While an administrator sees what another user sees, a frame says so on every page. */
export function ViewBar() {
  const isUnlocking = useSignal(false);
  const view = viewing.value;
  if (!view) return null;
  const { name, by, isLocked } = view;
  return (
    <>
      <div class="view-frame" aria-hidden="true" />
      <section class="view-bar" aria-label="Viewing as another person">
        <p class="grow">
          Viewing as <bdi class="strong">{name}</bdi>.{' '}
          {isLocked ? 'Read-only.' : `Changes are made for them, and recorded under ${by}.`}
        </p>
        {isLocked && <Button onClick={() => (isUnlocking.value = true)}>Unlock changes</Button>}
        <Button onClick={stopViewing}>Stop viewing</Button>
      </section>
      {isUnlocking.value && (
        <Confirm
          title={`Change things for ${name}?`}
          verb="Unlock changes"
          done="Changes are unlocked."
          change={async () => unlockView()}
          onClose={() => (isUnlocking.value = false)}
        >
          <p>
            What you change from now on is done with the rights of <bdi>{name}</bdi>, until you stop viewing. The audit
            log records it under {by}, on behalf of <bdi>{name}</bdi>.
          </p>
        </Confirm>
      )}
    </>
  );
}
