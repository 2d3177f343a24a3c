import { type Signal, useComputed, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES, titleOf } from '../../../../client/object-kinds.ts';
import { useResource } from '../../data/resource.ts';
import { SelectField } from '../../parts/field.tsx';
import { Picker } from '../../parts/picker.tsx';

/** The types of objects that questions are about, and their words. */
export const TYPES = (['organization', ...ADDRESSED_TYPES] as const).map((type) => ({
  value: type,
  label: titleOf(type),
}));

const MAX_FOUND = 8;

interface Named {
  readonly id: bigint;
  readonly name: string;
  readonly displayName?: string;
}

interface ObjectPickerProps {
  readonly org: string;
  readonly type: Signal<string>;
  /** The ID of the chosen object, or empty. */
  readonly id: Signal<string>;
}

/** A type, and an object of that type that the caller may see, by name. */
export function ObjectPicker({ org, type, id }: ObjectPickerProps) {
  const text = useSignal('');
  const addressed = ADDRESSED_TYPES.find((one) => one === type.value);
  const list = addressed && (`GET /orgs/{org}/${OBJECT_KINDS[addressed].plural}` as const);
  const found = useResource(list, list && { path: { org }, query: { limit: 50 } });
  const self = useResource(type.value === 'organization' ? 'GET /orgs/{org}' : undefined, { path: { org } });
  const objects = useComputed<readonly Named[]>(() => []);
  const all: readonly Named[] =
    type.value === 'organization' ? (self.data ? [self.data] : []) : (found.data ?? objects.value);
  const chosen = all.find((one) => String(one.id) === id.value);
  // What the address names, or the first object, stands in the field.
  useEffect(() => {
    if (chosen) text.value = labelOf(chosen);
    else if (id.value === '' && text.value === '' && all[0]) id.value = String(all[0].id);
  }, [chosen, all[0]?.id]);
  const isUntouched = useRef(true);
  const isNothing = isUntouched.current && id.value === '' && found.data?.length === 0;
  // Where nothing was imported yet, there is still the organization to ask about.
  useEffect(() => {
    if (isNothing) type.value = 'organization';
  }, [isNothing]);
  const wanted = chosen && text.value === labelOf(chosen) ? '' : text.value.trim().toLowerCase();
  const choices = all
    .filter((one) => labelOf(one).toLowerCase().includes(wanted))
    .slice(0, MAX_FOUND)
    .map((one) => ({ value: String(one.id), label: labelOf(one), detail: `${type.value}:${one.id}` }));
  return (
    <>
      <SelectField
        label="Type"
        value={type}
        choices={TYPES}
        onChange={() => {
          isUntouched.current = false;
          id.value = '';
          text.value = '';
        }}
      />
      <Picker label="Object" value={id} text={text} choices={choices} />
    </>
  );
}

function labelOf({ displayName, name }: Named): string {
  return displayName || name;
}
