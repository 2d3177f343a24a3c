import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { OBJECT_KINDS, SEARCHED_TYPES } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES, titleOf } from '../../../../client/object-kinds.ts';
import { useQueryFields } from '../../data/address.ts';
import { unlessEmpty, useSettled } from '../../data/filters.ts';
import { useResource } from '../../data/resource.ts';
import { serverNow } from '../../data/server-time.ts';
import { capital } from '../../parts/capital.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Picker } from '../../parts/picker.tsx';

const NO_FILTERS = { actor: '', action: '', object: '', days: '', since: '', until: '', entry: '' };
const PAGE = 50;
const MAX_FOUND = 8;
const MAX_LISTED = 50;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const ROBOT = 'robot:';

export type AuditFields = Readonly<Record<keyof typeof NO_FILTERS, Signal<string>>>;

/** Filters that are in the address, as the API takes them, and further ones that a page has. */
export function useAuditFilters<More extends string = never>(more?: Readonly<Record<More, string>>) {
  const fields = useQueryFields<keyof typeof NO_FILTERS | More>({ ...NO_FILTERS, ...more } as never);
  const { days, since, until } = fields;
  const [actor, action, object] = [fields.actor, fields.action, fields.object].map(({ value }) => useSettled(value));
  // From a full hour on, so that the question stays the same while the page is open.
  const sinceDays = useMemo(() => momentBefore(Number(days.value)), [days.value]);
  const asked = {
    actor: unlessEmpty(actor ?? ''),
    action: unlessEmpty(action ?? ''),
    object: unlessEmpty(object ?? ''),
    since: since.value === '' ? sinceDays : readMoment(since.value),
    until: since.value === '' ? undefined : readMoment(until.value),
  };
  return { fields, asked, query: { ...asked, limit: PAGE } };
}

function momentBefore(days: number): string | undefined {
  if (!(days > 0)) return undefined;
  const hour = Math.floor(serverNow() / HOUR_MS) * HOUR_MS;
  return new Date(hour - days * 24 * HOUR_MS).toISOString().replace('.000', '');
}

/** What is in the address can be anything. */
function readMoment(text: string): string | undefined {
  return Number.isNaN(Date.parse(text)) ? undefined : text;
}

/** The same question, for the link that exports what is shown. */
export function exportPath(path: string, asked: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(asked).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

/** A field of a form that stands for something else than its text. */
function standIn(get: () => string, set: (text: string) => void): Signal<string> {
  return {
    get value() {
      return get();
    },
    set value(text: string) {
      set(text);
    },
  } as Signal<string>;
}

const CHOSEN = 'chosen';

/** The last days, or the time that was chosen in the picture, to the minute. */
export function TimeField({ fields: { days, since, until } }: { fields: AuditFields }) {
  const choose = (chosen: string) => {
    const now = new Date(Math.floor(serverNow() / MINUTE_MS) * MINUTE_MS).toISOString().replace('.000', '');
    since.value = chosen === CHOSEN ? (momentBefore(Number(days.value) || 1) ?? '') : '';
    until.value = chosen === CHOSEN ? now : '';
    days.value = chosen === CHOSEN ? '' : chosen;
  };
  return (
    <>
      <SelectField
        label="Time"
        value={standIn(() => (since.value === '' ? days.value : CHOSEN), choose)}
        choices={[
          { value: '', label: 'All' },
          { value: '1', label: 'Last 24 hours' },
          { value: '7', label: 'Last 7 days' },
          { value: '30', label: 'Last 30 days' },
          { value: '90', label: 'Last 90 days' },
          { value: '365', label: 'Last 365 days' },
          { value: CHOSEN, label: 'From … until …' },
        ]}
      />
      {since.value !== '' && (
        <>
          <TextField label="From (UTC)" type="datetime-local" value={minutesOf(since)} />
          <TextField label="Until (UTC)" type="datetime-local" value={minutesOf(until)} />
        </>
      )}
    </>
  );
}

/** As the browser writes a time in a field. While it is being typed, it is none. */
function minutesOf(moment: Signal<string>): Signal<string> {
  return standIn(
    () => moment.value.slice(0, 16),
    (text) => {
      if (!Number.isNaN(Date.parse(`${text}Z`))) moment.value = `${text.slice(0, 16)}:00Z`;
    },
  );
}

/** Finds a user, or a robot, of the organization if there is one. What is typed counts too: the ID of a deleted account, or 0. */
export function ActorField({ value, org }: { value: Signal<string>; org: string }) {
  const typed = useSignal(value.value);
  const text = useSettled(typed.value.trim());
  const isAsked = text !== '' && text !== value.value;
  const users = useResource(isAsked && !text.startsWith(ROBOT) ? 'GET /users/search' : undefined, {
    query: { q: text, limit: MAX_FOUND },
  });
  const robots = useResource(isAsked ? 'GET /search' : undefined, {
    query: { q: text.replace(ROBOT, ''), ...(org !== '' && { org }), types: 'robots' },
  });
  const choices = [
    ...(users.data?.data ?? []).map(({ login, full_name }) => ({ value: login, label: login, detail: full_name })),
    ...(robots.data?.robots ?? []).map(({ name }) => ({ value: ROBOT + name, label: ROBOT + name, detail: 'robot' })),
  ];
  // Half a name is no account, and the log cannot be asked for it.
  const isWhole = text === '' || /^\d+$/.test(text) || choices.some((choice) => choice.value === text);
  useEffect(() => {
    if (isWhole && text === typed.peek().trim()) value.value = text;
  }, [text, isWhole]);
  // The filters were cleared, or a link led to other filters.
  const known = useRef(value.value);
  useEffect(() => {
    if (value.value !== known.current && value.value !== text) typed.value = value.value;
    known.current = value.value;
  }, [value.value]);
  return (
    <Picker
      label="Who"
      value={standIn(
        () => value.value,
        (picked) => {
          if (picked !== '') value.value = picked;
        },
      )}
      text={typed}
      choices={choices.slice(0, MAX_FOUND)}
      placeholder="Any actor"
    />
  );
}

/** A type, and an object of it by name. The value is as the API takes it, such as `cluster` or `cluster:7`. */
export function ObjectField({ value, org }: { value: Signal<string>; org: string }) {
  const [type = ''] = value.value.split(':');
  const types = SEARCHED_TYPES.map((one) => ({ value: one as string, label: capital(titleOf(one)) }));
  const isListed = type === '' || types.some((one) => one.value === type);
  const named = SEARCHED_TYPES.find((one) => one === type && (one !== 'organization' || org === ''));
  return (
    <>
      <SelectField
        label="Object"
        value={standIn(
          () => type,
          (chosen) => (value.value = chosen),
        )}
        choices={[
          { value: '', label: 'Anything' },
          ...(isListed ? [] : [{ value: type, label: capital(titleOf(type)) }]),
          ...types,
        ]}
      />
      {named && <NameField key={named} type={named} org={org} value={value} />}
    </>
  );
}

interface NameFieldProps {
  readonly type: (typeof SEARCHED_TYPES)[number];
  /** Empty to search everything that the caller may see. */
  readonly org: string;
  readonly value: Signal<string>;
}

function NameField({ type, org, value }: NameFieldProps) {
  const { plural } = OBJECT_KINDS[type];
  const [, id = ''] = value.value.split(':');
  const text = useSignal('');
  const typed = useSettled(text.value.trim());
  const listed = ADDRESSED_TYPES.find((one) => one === type && org !== '');
  const list = useResource(listed && (`GET /orgs/{org}/${OBJECT_KINDS[listed].plural}` as const), {
    path: { org },
    query: { limit: MAX_LISTED },
  });
  const search = useResource(typed === '' ? undefined : 'GET /search', {
    query: { q: typed, ...(org !== '' && { org }), types: plural },
  });
  const all: readonly Named[] = list.data ?? [];
  // Those that are known already stay while the server is asked, so that a click still meets what it aimed at.
  const wanted = text.value.trim().toLowerCase();
  const known = all.filter((one) => one.name.toLowerCase().includes(wanted));
  const found: readonly Named[] = search.data?.[plural] ?? known;
  const name = all.find((one) => String(one.id) === id)?.name;
  // The address says which one by its number.
  useEffect(() => {
    if (name !== undefined && text.peek() === '') text.value = name;
  }, [name]);
  return (
    <Picker
      label="Which one"
      value={standIn(
        () => id,
        (chosen) => (value.value = chosen === '' ? type : `${type}:${chosen}`),
      )}
      text={text}
      placeholder={id === '' ? 'Any' : `${type}:${id}`}
      choices={found.slice(0, MAX_FOUND).map((one) => ({
        value: String(one.id),
        label: one.name,
        detail: org === '' && typeof one.organization === 'string' ? one.organization : undefined,
      }))}
    />
  );
}

interface Named {
  readonly id: bigint;
  readonly name: string;
  /** Of what was searched for. */
  readonly organization?: unknown;
}
