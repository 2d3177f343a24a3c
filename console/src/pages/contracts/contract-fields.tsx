import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import type { Action } from '../../data/action.ts';
import { TextField } from '../../parts/field.tsx';

export type Contract = Answer<'GET /contracts/{id}'>;
type Values = Readonly<
  Record<'name' | 'product' | 'features' | 'clusters' | 'start' | 'end' | 'quota', Signal<string>>
>;

export const CONTRACT_FIELDS = ['name', 'product', 'features', 'clusters', 'start', 'end', 'quota'] as const;

export function useContractFields(contract?: Contract): Values {
  const signals = {
    name: useSignal(contract?.name ?? ''),
    product: useSignal(contract?.product ?? ''),
    features: useSignal(contract?.features.join(', ') ?? ''),
    clusters: useSignal(contract?.clusters.join('\n') ?? ''),
    start: useSignal(dayOf(contract?.start)),
    end: useSignal(dayOf(contract?.end)),
    quota: useSignal(
      Object.entries(contract?.quota ?? {})
        .map(([kind, amount]) => `${kind}=${amount}`)
        .join('\n'),
    ),
  };
  return useMemo(() => signals, []);
}

export function bodyOf(values: Values) {
  return {
    name: values.name.value,
    product: values.product.value,
    features: listOf(values.features.value, ','),
    clusters: listOf(values.clusters.value, '\n'),
    ...(values.start.value !== '' && { start: `${values.start.value}T00:00:00Z` }),
    end: values.end.value === '' ? null : `${values.end.value}T00:00:00Z`,
    quota: Object.fromEntries(
      listOf(values.quota.value, '\n').map((line) => {
        const [kind = '', amount = ''] = line.split('=').map((part) => part.trim());
        return [kind, Number(amount)];
      }),
    ),
  };
}

export function ContractFields({ values, action }: { values: Values; action: Action<[]> }) {
  return (
    <>
      <TextField label="Name" value={values.name} isRequired error={action.fieldError('name')} />
      <TextField label="Product" value={values.product} error={action.fieldError('product')} />
      <TextField
        label="Features"
        value={values.features}
        hint="Separated by commas."
        error={action.fieldError('features')}
      />
      <TextField
        label="Clusters"
        value={values.clusters}
        rows={3}
        isMono
        hint="The UID of each cluster, one per line."
        error={action.fieldError('clusters')}
      />
      <TextField label="Start" type="date" value={values.start} error={action.fieldError('start')} />
      <TextField
        label="End"
        type="date"
        value={values.end}
        hint="Empty: the contract never ends."
        error={action.fieldError('end')}
      />
      <TextField
        label="Quota"
        value={values.quota}
        rows={3}
        isMono
        hint="One per line, such as nodes=100."
        error={action.fieldError('quota')}
      />
    </>
  );
}

function listOf(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function dayOf(at: string | null | undefined): string {
  return at ? at.slice(0, 10) : '';
}
