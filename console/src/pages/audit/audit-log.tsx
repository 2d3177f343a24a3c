import { batch, type Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { unlessEmpty } from '../../data/filters.ts';
import { orgPath, useOrgName } from '../../data/org.ts';
import type { List } from '../../data/resource.ts';
import { Card, Facts } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Copy } from '../../parts/copy.tsx';
import { type AuditEntry, EntryActor, EntryObject } from '../../parts/entries.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { ObjectLink } from '../../parts/marked-name.tsx';
import { Empty } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { relativeTime } from '../../parts/when.tsx';
import { TYPES } from '../access/object-picker.tsx';
import { ActorField, type AuditFields, ObjectField, TimeField } from './audit-filters.tsx';
import { AuditHistogram, type Histogram } from './histogram.tsx';
import { changesIn } from './state-changes.ts';
import { UndoEntry } from './undo-entry.tsx';
import './audit.css';

interface ActionCount {
  readonly action: string;
  readonly description: string;
  readonly count: number;
  /** There are more than were counted. */
  readonly more?: true | undefined;
}

interface AuditLogProps {
  readonly filters: { readonly fields: AuditFields };
  readonly log: List<AuditEntry>;
  readonly entries: readonly AuditEntry[];
  /** What can be filtered by, if the server counts it for this log. */
  readonly actions?: readonly ActionCount[] | undefined;
  /** If the server counts this log by time. */
  readonly histogram?: Histogram | undefined;
  /** The organization whose objects are offered, if the page is about several. */
  readonly about?: string | undefined;
  /** Further fields to filter by. */
  readonly moreFilters?: ComponentChildren;
  /** Columns after the time, such as the organization. */
  readonly moreColumns?: readonly Column<AuditEntry>[] | undefined;
}

/** Filters, the entries, and the chosen entry next to them. */
export function AuditLog(props: AuditLogProps) {
  const {
    filters: { fields },
    log,
    entries,
    actions,
    histogram,
    moreFilters,
    moreColumns = [],
    about,
  } = props;
  const org = useOrgName();
  const within = about ?? org;
  const chosen = fields.entry;
  const entry = entries.find(({ id }) => String(id) === chosen.value);
  const clear = () => {
    for (const field of Object.values(fields)) field.value = '';
  };
  const isFiltered = Object.entries(fields).some(([name, { value }]) => name !== 'entry' && value !== '');
  return (
    <div class={entry ? 'with-panel' : 'stack'}>
      <div class="stack">
        <div class="filters" data-filter>
          {moreFilters}
          <TimeField fields={fields} />
          <ActorField value={fields.actor} org={within} />
          <ActionField value={fields.action} actions={actions} />
          <ObjectField value={fields.object} org={within} />
        </div>
        {histogram && (
          <AuditHistogram
            of={histogram}
            onChoose={(since, until) => {
              batch(() => {
                fields.days.value = '';
                fields.since.value = since;
                fields.until.value = until;
              });
            }}
          />
        )}
        {entries.length === 0 ? (
          <Empty
            text={isFiltered ? 'Nothing matches these filters.' : 'Nothing has been recorded yet.'}
            action={isFiltered && <Button onClick={clear}>Clear the filters</Button>}
          />
        ) : (
          <Table
            caption="Audit log"
            rows={entries}
            keyOf={({ id }) => String(id)}
            groupOf={({ at }) => dayOf(at)}
            selected={unlessEmpty(chosen.value)}
            onOpen={({ id }) => {
              chosen.value = String(id);
            }}
            hasMore={log.hasMore}
            onMore={log.loadMore}
            columns={[
              { key: 'at', title: 'When (UTC)', cell: ({ at }) => <Clock at={at} /> },
              ...moreColumns,
              { key: 'what', title: 'What', cell: ({ summary }) => <bdi>{summary}</bdi>, isText: true },
              { key: 'action', title: 'Action', cell: ({ action }) => <code>{action}</code>, isMinor: true },
              { key: 'on', title: 'Object', cell: (entry) => <EntryObject entry={entry} />, isMinor: true },
            ]}
          />
        )}
      </div>
      {entry && (
        <div class="panel">
          <EntryDetails entry={entry} onClose={() => (chosen.value = '')} />
        </div>
      )}
    </div>
  );
}

const inDays = new Intl.DateTimeFormat('en-GB', {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});

function dayOf(at: string): string {
  return inDays.format(new Date(at));
}

/** The day stands above. How long ago it was shows on hover. */
function Clock({ at }: { at: string }) {
  return (
    <time dateTime={at} title={relativeTime(at)} class="mono">
      {new Date(at).toISOString().slice(11, 19)}
    </time>
  );
}

/** Every action of the last 90 days by its name; what the address asks for is among them, even a prefix. */
function ActionField({ value, actions }: { value: Signal<string>; actions: readonly ActionCount[] | undefined }) {
  if (actions === undefined) return <TextField label="Action" value={value} placeholder="role.create, or role." />;
  const isListed = value.value === '' || actions.some(({ action }) => action === value.value);
  return (
    <SelectField
      label="Action"
      value={value}
      choices={[
        { value: '', label: 'All' },
        ...(isListed ? [] : [{ value: value.value, label: value.value }]),
        ...actions.map(({ action, description, count, more }) => ({
          value: action,
          label: `${action} (${count}${more ? '+' : ''}): ${description}`,
        })),
      ]}
    />
  );
}

/** Questions about the moment of an entry, about its object if one can ask about it. */
function whyPath(org: string, { at, object, before, after }: AuditEntry, seconds: number): string {
  const moment = new Date(Math.floor(Date.parse(at) / 1000 + seconds + (seconds === 0 ? 1 : 0)) * 1000);
  const { username } = (after ?? before ?? {}) as { readonly username?: unknown };
  const isAsked = TYPES.some(({ value }) => value === object.type);
  return orgPath(
    org,
    `/access/why?${new URLSearchParams({
      at: moment.toISOString().replace('.000', ''),
      ...(typeof username === 'string' && { user: username }),
      ...(isAsked && { type: object.type, id: String(object.id) }),
    })}`,
  );
}

function EntryDetails({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  const org = useOrgName();
  const { action, actor, object, at, before, after, request_id, hash, previous_hash } = entry;
  return (
    <Card title={entry.summary} actions={<Button onClick={onClose}>Close</Button>}>
      <Facts
        of={[
          { name: 'When', value: new Date(at).toISOString() },
          { name: 'Action', value: <code>{action}</code> },
          {
            name: 'Who',
            value:
              actor.type === 'robot_ac' && org !== '' ? (
                <ObjectLink org={org} of={actor} isKindShown />
              ) : (
                <EntryActor actor={actor} />
              ),
          },
          { name: 'Object', value: <EntryObject entry={entry} /> },
          { name: 'Object ID', value: <code>{`${object.type}:${object.id}`}</code> },
          { name: 'Request', value: request_id && <Copy text={request_id} label="Copy the request ID" /> },
        ]}
      />
      {org !== '' && (
        <div class="line">
          <a href={whyPath(org, entry, -1)}>Ask why just before this</a>
          <a href={whyPath(org, entry, 0)}>and just after</a>
          <UndoEntry key={String(entry.id)} org={org} entry={entry} />
        </div>
      )}
      <ul class="audit-changes">
        {changesIn(before, after).map(({ field, old, now }) => (
          <li key={field}>
            <span class="strong">{field}</span>
            {old !== undefined && <del>{old}</del>}
            {now !== undefined && <ins>{now}</ins>}
          </li>
        ))}
      </ul>
      <p class="quiet small">Each entry contains the hash of the one before it, so a change of an old entry shows.</p>
      <Copy text={hash} label="Copy the hash" />
      <Copy text={previous_hash} label="Copy the hash of the previous entry" />
    </Card>
  );
}
