import type { Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { useResource } from '../../data/resource.ts';
import { SelectField } from '../../parts/field.tsx';

/** The permissions of a type, in words. */
export function RelationField({ type, relation }: { type: string; relation: Signal<string> }) {
  const model = useResource('GET /authz/model');
  const relations = (model.data?.types.find((one) => one.type === type)?.relations ?? []).filter(({ relation: name }) =>
    name.startsWith('can_'),
  );
  const isKnown = relations.some((one) => one.relation === relation.value);
  // Before the field looks at its value.
  useLayoutEffect(() => {
    if (relations.length > 0 && !isKnown) relation.value = relations[0]?.relation ?? '';
  }, [relations.length, isKnown, type]);
  return (
    <SelectField
      label="Permission"
      value={relation}
      choices={relations.map((one) => ({ value: one.relation, label: one.title }))}
    />
  );
}
