import { useSignal } from '@preact/signals';
import { titleOf, typeNamed } from '../../../../client/object-kinds.ts';
import { nameOfAction } from '../../../../client/permissions.ts';
import { capital } from '../../parts/capital.ts';
import { CheckField, TextField } from '../../parts/field.tsx';
import { keyOf, nameOf, type Permission, requiredBy } from './role-draft.ts';

interface PermissionListProps {
  readonly all: readonly Permission[];
  readonly chosen: readonly string[];
  readonly isReadOnly: boolean;
  readonly onToggle: (key: string, isOn: boolean) => void;
}

/** What can be put into a role, by what it is about, in words. */
export function PermissionList({ all, chosen, isReadOnly, onToggle }: PermissionListProps) {
  const filter = useSignal('');
  const wanted = filter.value.trim().toLowerCase();
  const namespaces = [...new Set(all.map(({ namespace }) => namespace))];
  return (
    <div class="stack">
      <div class="filters" data-filter>
        <TextField label="Filter permissions" type="search" value={filter} />
        <span class="quiet small">{`${chosen.length} of ${all.length} chosen`}</span>
      </div>
      {namespaces.map((namespace) => {
        const shown = all.filter(
          (one) =>
            one.namespace === namespace &&
            `${nameOfAction(one.action)} ${one.action} ${one.description}`.toLowerCase().includes(wanted),
        );
        if (shown.length === 0) return null;
        return (
          <fieldset key={namespace} class="permissions">
            <legend>{titleOfNamespace(namespace)}</legend>
            {shown.map((permission) => {
              const key = keyOf(permission);
              const needing = chosen.filter((other) => requiredBy(other, all).includes(key));
              return (
                <CheckField
                  key={key}
                  label={nameOfAction(permission.action)}
                  hint={hintOf(permission, needing)}
                  isChecked={chosen.includes(key)}
                  disabledBecause={isReadOnly ? permission.description : undefined}
                  onChange={(isOn) => onToggle(key, isOn)}
                />
              );
            })}
          </fieldset>
        );
      })}
    </div>
  );
}

/** A description that only repeats the name is left out. */
function hintOf({ action, description }: Permission, needing: readonly string[]): string | undefined {
  const isRepeated = description.toLowerCase() === `${nameOfAction(action)}.`;
  const needed = needing.map((one) => nameOfAction(nameOf(one).action)).join(', ');
  const parts = [isRepeated ? '' : description, needed === '' ? '' : `Needed by ${needed}.`];
  return parts.filter((part) => part !== '').join(' ') || undefined;
}

/** `robot_mgmt` is about robot accounts. */
function titleOfNamespace(namespace: string): string {
  const word = namespace.replace(/_mgmt$/, '');
  return word === 'org' ? 'Organization' : `${capital(titleOf(typeNamed(word)))}s`;
}
