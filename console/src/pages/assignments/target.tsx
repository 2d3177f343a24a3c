import { type Signal, useSignal } from '@preact/signals';
import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES } from '../../../../client/object-kinds.ts';
import { useSettled } from '../../data/filters.ts';
import { useResource } from '../../data/resource.ts';
import { SelectField } from '../../parts/field.tsx';
import { type Choice, Picker } from '../../parts/picker.tsx';
import { kindWord } from './assignment.ts';

const MAX_LISTED = 50;
const MAX_SHOWN = 8;
const MAX_TEXT = 64;
const WHOLE = 'organization';
const SET = 'cluster_set';

/** To whom or on what, as it is being chosen: a type and a name. */
export interface Target {
  readonly type: Signal<string>;
  readonly name: Signal<string>;
  /** What the caller may see of that type, and what was typed. */
  readonly found: readonly Choice[];
  /** Whether there is something of that name, as far as the caller may see it. */
  readonly isKnown: boolean;
  readonly isComplete: boolean;
}

/** Nothing is asked for if the page has chosen already. */
export function useTarget(org: string, first: string, isGiven: boolean): Target {
  const type = useSignal(isGiven ? WHOLE : first);
  const name = useSignal('');
  const { found, isOpen } = useFound(org, type.value, useSettled(name.value.trim()).slice(0, MAX_TEXT));
  const typed = name.value.trim();
  const isComplete = type.value === WHOLE || typed !== '';
  const isKnown = type.value === WHOLE || isOpen || found.some(({ value }) => value === typed);
  return { type, name, found, isComplete, isKnown: isComplete && isKnown };
}

/** `isOpen`: any name may be right, also one that is not found. */
function useFound(org: string, type: string, text: string): { found: readonly Choice[]; isOpen: boolean } {
  const members = useResource(type === 'user' ? 'GET /orgs/{org}/members' : undefined, {
    path: { org },
    query: { q: text, sort: 'name', limit: MAX_SHOWN },
  });
  const listed = ADDRESSED_TYPES.find((one) => one === (type === SET ? 'cluster' : type));
  const plural = listed && OBJECT_KINDS[listed].plural;
  const isSearched = plural !== undefined && type !== SET && text !== '';
  const list = useResource(plural && !isSearched ? (`GET /orgs/{org}/${plural}` as const) : undefined, {
    path: { org },
    query: { limit: MAX_LISTED },
  });
  const search = useResource(isSearched ? 'GET /search' : undefined, {
    query: { q: text, org, types: plural ?? '' },
  });
  if (type === 'user') {
    const found = (members.data ?? []).map(({ login, full_name }) => ({
      value: login,
      label: login,
      detail: full_name,
    }));
    // The members may be hidden, and assigned to all the same.
    return { found, isOpen: members.error !== undefined };
  }
  if (type === SET) {
    const clusters = (list.data ?? []) as readonly { readonly clusterSetName?: string }[];
    const sets = [...new Set(clusters.map(({ clusterSetName = '' }) => clusterSetName))].sort();
    const found = sets.filter((set) => set !== '' && set.toLowerCase().includes(text.toLowerCase()));
    return { found: found.map((set) => ({ value: set, label: set })), isOpen: true };
  }
  const objects: readonly { readonly name: string; readonly title?: string; readonly displayName?: string }[] =
    (isSearched ? search.data?.[plural] : list.data) ?? [];
  const found = objects.slice(0, isSearched ? MAX_SHOWN : MAX_LISTED).map(({ name, title, displayName }) => ({
    value: name,
    label: name,
    detail: title ?? displayName,
  }));
  return { found, isOpen: false };
}

interface TargetFieldProps {
  /** "To" or "On". */
  readonly label: string;
  readonly types: readonly string[];
  readonly target: Target;
  readonly error: string | undefined;
}

/** A type, and one of that type by its name. */
export function TargetField({ label, types, target, error }: TargetFieldProps) {
  const { type, name, found } = target;
  const picked = useSignal('');
  const isWhole = type.value === WHOLE;
  const word = kindWord(type.value);
  return (
    <div class="target">
      <SelectField
        label={label}
        value={type}
        choices={types.map((one) => ({ value: one, label: one === WHOLE ? 'the organization' : kindWord(one) }))}
        error={isWhole ? error : undefined}
        onChange={() => {
          name.value = '';
          picked.value = '';
        }}
      />
      {!isWhole && (
        <Picker
          key={type.value}
          label={`${label} which ${word}`}
          value={picked}
          text={name}
          choices={found.slice(0, MAX_SHOWN)}
          hint={type.value === SET ? 'All clusters whose cluster set has this name, also future ones.' : undefined}
          error={error}
        />
      )}
    </div>
  );
}
