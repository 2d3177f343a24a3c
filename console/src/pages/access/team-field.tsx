import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useSettled } from '../../data/filters.ts';
import { useOrg } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { SelectField } from '../../parts/field.tsx';
import { Picker } from '../../parts/picker.tsx';

const MAX_LISTED = 50;
const MAX_FOUND = 8;

interface TeamFieldProps {
  readonly label: string;
  /** The ID of the chosen team; empty for all members. */
  readonly team: Signal<string>;
  /** What is shown without a team. */
  readonly everyone: string;
}

interface Named {
  readonly id: bigint;
  readonly name: string;
}

/** Chooses a team from a list; from a search if there are too many for a list. */
export function TeamField({ label, team, everyone }: TeamFieldProps) {
  const { org, may } = useOrg();
  const teams = useList(may('can_view_teams') ? 'GET /orgs/{org}/teams' : undefined, {
    path: { org },
    query: { limit: MAX_LISTED },
  });
  if (teams.hasMore) return <TeamSearch label={label} team={team} everyone={everyone} org={org} />;
  return (
    <SelectField
      label={label}
      value={team}
      choices={[
        { value: '', label: everyone },
        ...(teams.data ?? []).map(({ id, name }) => ({ value: String(id), label: `team ${name}` })),
      ]}
    />
  );
}

function TeamSearch({ label, team, everyone, org }: TeamFieldProps & { org: string }) {
  const text = useSignal('');
  const typed = useSettled(text.value.trim());
  const found = useResource(typed === '' ? undefined : 'GET /search', { query: { q: typed, org, types: 'teams' } });
  // The address has its number.
  const given = useResource(team.value !== '' && typed === '' ? 'GET /teams/{id}' : undefined, {
    path: { id: team.value },
  });
  const name = given.data?.name;
  useEffect(() => {
    if (name !== undefined && text.peek() === '') text.value = name;
  }, [name]);
  const teams: readonly Named[] = found.data?.teams ?? [];
  return (
    <Picker
      label={label}
      value={team}
      text={text}
      placeholder={`${everyone}, or part of the name of a team`}
      choices={teams.slice(0, MAX_FOUND).map((one) => ({ value: String(one.id), label: one.name }))}
    />
  );
}
