import { type Signal, useSignal } from '@preact/signals';
import { useQueryFields } from '../../data/address.ts';
import { useKept } from '../../data/filters.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { RELATION_TITLES } from '../../data/relations.gen.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';
import { When } from '../../parts/when.tsx';
import { AccessTabs } from './access-tabs.tsx';
import { AsOfBanner, AsOfField, atOf } from './as-of.tsx';
import { type AccessMap, counted, type MapLine } from './map-layout.ts';
import { MapPicture } from './map-picture.tsx';
import { TimeStrip } from './time-strip.tsx';
import './access.css';

const FILTERS = ['to', 'role', 'on'] as const;

/** Who has access through what, as a picture that is narrowed by a click. */
export function MapPage() {
  const { org, question } = useOrg();
  const fields = useQueryFields({ to: '', role: '', on: '', at: '' });
  const { at } = fields;
  const asked = Object.fromEntries(FILTERS.flatMap((name) => (fields[name].value ? [[name, fields[name].value]] : [])));
  const map = useKept(useResource('GET /authz/map', { query: { org, ...asked, ...atOf(at) } }), org);
  const whyHref = ({ why }: MapLine) => {
    if (why === null) return undefined;
    const query = { user: why.user, relation: why.relation, type: why.object.type, id: String(why.object.id) };
    return orgPath(org, `/access/why?${new URLSearchParams({ ...query, ...atOf(at) })}`);
  };
  return (
    <Page
      title="Map"
      within={org}
      lead="Who has access through what. A box shows only what leads through it, a line leads to why."
      isStale={map.isStale}
    >
      <AccessTabs />
      <Narrow org={org} fields={fields} map={map.data} />
      <AsOfField at={at} />
      <TimeStrip org={org} at={at} isAsked />
      <AsOfBanner at={at} changes={map.data?.changed_since} />
      <Show of={map} whyNot={question('can_view_members', 'see who has access')}>
        {(found) =>
          found.grants.length === 0 ? (
            <Empty text="Nothing leads there. No role that you may see is assigned like this." />
          ) : (
            <>
              <MapPicture
                map={found}
                whyHref={whyHref}
                onNarrow={({ narrow }) => {
                  for (const [name, value] of Object.entries(narrow)) fields[name as 'to'].value = value;
                }}
              />
              <p class="quiet small" role="status">
                {leftOutWords(found)} Site administrators hold everything and are not drawn. As of{' '}
                <When at={found.at} />.
              </p>
              <Lines map={found} whyHref={whyHref} />
            </>
          )
        }
      </Show>
    </Page>
  );
}

interface NarrowProps {
  readonly org: string;
  readonly fields: Readonly<Record<(typeof FILTERS)[number], Signal<string>>>;
  readonly map: AccessMap | undefined;
}

/** What the map is narrowed to, and a search for a person whom it does not show. */
function Narrow({ org, fields, map }: NarrowProps) {
  const typed = useSignal('');
  const chosen = FILTERS.filter((name) => fields[name].value !== '');
  const isRobot = typed.value.startsWith('robot:');
  return (
    <form
      class="filters"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.value !== '') fields.to.value = isRobot ? typed.value : `user:${typed.value}`;
      }}
    >
      <UserPicker label="Person or robot" value={typed} robotsOf={org} />
      <Button type="submit">Show</Button>
      {chosen.map((name) => (
        <Button key={name} onClick={() => (fields[name].value = '')}>
          {wordsOf(name, fields[name].value, map)} ×<span class="only-read">: show all again</span>
        </Button>
      ))}
    </form>
  );
}

/** `team:4` by its name, if the map shows it. */
function wordsOf(filter: (typeof FILTERS)[number], value: string, map: AccessMap | undefined): string {
  if (filter === 'role')
    return `role ${map?.grants.find(({ role }) => String(role?.id) === value)?.role?.name ?? value}`;
  const [type = '', id = ''] = value.split(':');
  const named =
    filter === 'to' ? map?.teams.filter(() => type === 'team') : map?.places.filter((one) => one.type === type);
  const name = named?.find((one) => String(one.id) === id)?.name ?? id;
  const word =
    type === 'organization' ? 'all of the organization' : `${type.replace('_ac', '').replace('_', ' ')} ${name}`;
  return filter === 'on' ? `on ${word}` : word;
}

function Lines({ map, whyHref }: { map: AccessMap; whyHref: (line: MapLine) => string | undefined }) {
  const names = new Map<string, string>();
  for (const { key, name } of [...map.people, ...map.teams, ...map.places]) names.set(key, name);
  for (const { key, role, permission } of map.grants) names.set(key, role?.name ?? `${permission} permission`);
  const allows = new Map(map.grants.map(({ key, relations }) => [key, relations]));
  const typeAt = new Map(map.places.map(({ key, type }) => [key, type === 'cluster_set' ? 'cluster' : type]));
  return (
    <details>
      <summary class="small">As a table</summary>
      <Table
        caption="Who has access through what"
        rows={map.lines}
        keyOf={({ from, to }) => `${from} ${to}`}
        columns={[
          { key: 'from', title: 'From', cell: ({ from }) => <bdi>{names.get(from)}</bdi> },
          { key: 'to', title: 'To', cell: ({ to }) => <bdi>{names.get(to)}</bdi> },
          {
            key: 'allows',
            title: 'Allows',
            cell: ({ from, to }) => {
              const titles = RELATION_TITLES[typeAt.get(to) ?? ''] as Readonly<Record<string, string>> | undefined;
              return (allows.get(from) ?? []).map((one) => titles?.[one] ?? one).join(', ');
            },
          },
          {
            key: 'why',
            title: 'Why',
            cell: (line) => {
              const href = whyHref(line);
              return href === undefined ? null : <a href={href}>Why?</a>;
            },
          },
        ]}
      />
    </details>
  );
}

function leftOutWords({ left_out: leftOut, people }: AccessMap): string {
  if (leftOut.people === 0) return '';
  return `${people.length} of ${counted(people.length + leftOut.people)} are drawn; search for the others by name.`;
}
