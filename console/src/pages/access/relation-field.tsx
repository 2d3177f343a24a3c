import type { Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { RELATION_TITLES } from '../../data/relations.gen.ts';
import { SelectField } from '../../parts/field.tsx';

/** The permissions of a type, in words. */
export function RelationField({ type, relation }: { type: string; relation: Signal<string> }) {
  const titles = RELATION_TITLES[type] ?? {};
  const [first] = Object.keys(titles);
  const isKnown = titles[relation.value] !== undefined;
  // Before the field looks at its value.
  useLayoutEffect(() => {
    if (first !== undefined && !isKnown) relation.value = first;
  }, [first, isKnown, type]);
  return (
    <SelectField
      label="Permission"
      value={relation}
      choices={Object.entries(titles).map(([value, label]) => ({ value, label }))}
    />
  );
}
