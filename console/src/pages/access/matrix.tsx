import { useMemo } from 'preact/hooks';
import type { MatrixQuestionInput } from '../../../../client/api.gen.ts';
import { useAction } from '../../data/action.ts';
import { useQueryFields } from '../../data/address.ts';
import { api } from '../../data/api.ts';
import { useKept } from '../../data/filters.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { askedName, principalKey } from '../../data/principal.ts';
import { RELATION_TITLES } from '../../data/relations.gen.ts';
import { useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { CheckField, SelectField, TextField } from '../../parts/field.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { AccessTabs } from './access-tabs.tsx';
import { AsOfBanner, AsOfField, atOf } from './as-of.tsx';
import { MatrixGrid } from './matrix-grid.tsx';
import { askedIn, type Mark, marksOf, sayingOf } from './matrix-marks.ts';
import { compared, has, type Matrix, ordered } from './matrix-order.ts';
import { useObjectPart } from './matrix-part.ts';
import { TYPES } from './object-picker.tsx';
import { TeamField } from './team-field.tsx';
import { TimeStrip } from './time-strip.tsx';
import './access.css';

/** More columns than a person scrolls through. */
const MANY = 50;

/** People × objects, exact at one moment. Every cell leads to why. */
export function MatrixPage() {
  const { org, question } = useOrg();
  const fields = useQueryFields({
    type: 'cluster',
    relation: '',
    team: '',
    users: '',
    robots: '',
    differences: '',
    order: '',
    object: '',
    at: '',
  });
  const { type, relation, team, users, robots, differences, order, object, at } = fields;
  const part = useObjectPart(org, type.value, object.value);
  const body: MatrixQuestionInput = {
    type: type.value as MatrixQuestionInput['type'],
    part: true,
    ...(part.ids !== undefined && { ids: [...part.ids] }),
    ...(users.value !== ''
      ? { users: users.value.split(',') }
      : team.value !== '' && { team: BigInt(numberIn(team.value)) }),
    ...(robots.value === 'true' && { robots: true }),
    ...(relation.value !== '' && { relations: [relation.value] }),
    ...(differences.value === 'true' && { differences: true }),
  };
  const matrix = useKept(
    useResource(part.isLoading ? undefined : 'POST /authz/matrix', { query: { org, ...atOf(at) }, body }),
    `${org} ${type.value}`,
  );
  const whole = matrix.data?.whole;
  const download = useAction(async () => {
    const csv = await api.call('POST /authz/matrix', { query: { org, format: 'csv', ...atOf(at) }, body });
    save(csv as unknown as string, `${org}-${type.value}-access.csv`);
  });
  const titleOf = new Map(Object.entries(RELATION_TITLES[type.value] ?? {}));
  return (
    <Page
      title="Matrix"
      within={org}
      lead="Who may do what with which objects, all as of one moment. Every cell leads to why."
      isStale={matrix.isStale}
      actions={<Button onClick={() => void download.run()}>Download CSV</Button>}
    >
      <AccessTabs />
      <form class="filters matrix-filters" onSubmit={(event) => event.preventDefault()}>
        <SelectField label="Objects" value={type} choices={TYPES} onChange={() => (relation.value = '')} />
        <SelectField
          label="Permission"
          value={relation}
          choices={[{ value: '', label: 'all' }, ...[...titleOf].map(([value, label]) => ({ value, label }))]}
        />
        {(whole !== undefined || object.value !== '' || (matrix.data?.objects.length ?? 0) > MANY) && (
          <TextField label="Object search" type="search" value={object} placeholder="Part of the name" />
        )}
        {users.value === '' ? (
          <TeamField label="People" team={team} everyone={whole === undefined ? 'all members' : 'the first members'} />
        ) : (
          <Button onClick={() => (users.value = '')}>Show all members</Button>
        )}
        <SelectField
          label="Order"
          value={order}
          choices={[
            { value: '', label: 'by name' },
            { value: 'rights', label: 'most rights first' },
          ]}
        />
        <CheckField
          label="Robots, too"
          isChecked={robots.value === 'true'}
          onChange={(isChecked) => (robots.value = isChecked ? 'true' : '')}
        />
        <CheckField
          label="Differences only"
          isChecked={differences.value === 'true'}
          onChange={(isChecked) => (differences.value = isChecked ? 'true' : '')}
        />
      </form>
      <AsOfField at={at} />
      <TimeStrip org={org} at={at} isAsked />
      <AsOfBanner at={at} changes={matrix.data?.changed_since} />
      <Fault error={download.error} onRetry={() => void download.run()} />
      {part.ids !== undefined && part.ids.length < part.total && (
        <p class="quiet" role="status">
          {`Showing ${ofAll(part.ids.length, part.total)} objects with this name.`}
        </p>
      )}
      {matrix.data && whole && (
        <p class="quiet" role="status">
          {`Showing ${ofAll(matrix.data.users.length, whole.users)} people and ` +
            `${ofAll(matrix.data.objects.length, whole.objects)} objects, because a matrix of all would be too large. ` +
            'Choose a team, or search for objects.'}
        </p>
      )}
      <Show of={matrix} whyNot={question('can_view_members', 'see who may do what')}>
        {(found) => (
          <Found
            org={org}
            found={ordered(found, order.value === 'rights' ? 'rights' : 'name')}
            titleOf={titleOf}
            at={atOf(at)}
          />
        )}
      </Show>
    </Page>
  );
}

interface FoundProps {
  readonly org: string;
  readonly found: Matrix;
  readonly titleOf: ReadonlyMap<string, string>;
  readonly at: { readonly at?: string };
}

function Found({ org, found, titleOf, at }: FoundProps) {
  const { users, objects, relations, cells, left_out: leftOut } = found;
  const marks = useMemo(
    () => marksOf(relations.map((one) => titleOf.get(one) ?? one)),
    [relations.join(), titleOf.size],
  );
  const say = useMemo(() => sayingOf(marks), [marks]);
  const whyHref = (row: number, column: number) => {
    const [user, object] = [users[row], objects[column]];
    const relation = askedIn(cells[row]?.[column] ?? 0, relations);
    const query = { user: user ? askedName(user) : '', relation, object: `${found.type}:${object?.id}`, ...at };
    return orgPath(org, `/access/why?${new URLSearchParams(query)}`);
  };
  const pair = leftOut !== undefined && users.length === 2 ? compared(found) : undefined;
  const isMarked = pair
    ? (row: number, column: number) => {
        const [mine, theirs] = [cells[row]?.[column] ?? 0, cells[1 - row]?.[column] ?? 0];
        return relations.some((_, bit) => has(mine, bit) && !has(theirs, bit));
      }
    : undefined;
  const isEmpty = users.length === 0 || objects.length === 0;
  return (
    <>
      {pair && (
        <ul class="bullets" role="status">
          {pair.map((more, row) => (
            <li key={principalKey(users[row] as (typeof users)[number])}>
              <bdi class="strong">{users[row]?.name}</bdi>{' '}
              {more.length === 0
                ? 'has nothing that the other has not.'
                : `has ${more.length} more: ${more.map((bit) => marks[bit]?.title).join(', ')}.`}
            </li>
          ))}
        </ul>
      )}
      {leftOut && <p role="status">{leftOutWords(leftOut.users, leftOut.objects, leftOut.common.map(say))}</p>}
      {isEmpty ? (
        <Empty
          text={
            leftOut
              ? 'All members hold the same on every object.'
              : 'Nothing to show yet. Members and objects appear here as soon as you may see them.'
          }
        />
      ) : (
        <>
          {marks.length > 1 && <Legend marks={marks} />}
          <MatrixGrid matrix={found} say={say} whyHref={whyHref} isMarked={isMarked} />
        </>
      )}
      <p class="quiet small">
        {counted(users.length, 'person', 'people')} × {counted(objects.length, 'object', 'objects')}, as of{' '}
        <When at={found.at} />. If you lack something, you may be able to{' '}
        <a href={orgPath(org, '/requests/new')}>ask for it</a>.
      </p>
    </>
  );
}

function ofAll(shown: number, all: number): string {
  return `${shown.toLocaleString('en-GB')} of ${all.toLocaleString('en-GB')}`;
}

function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en-GB')} ${count === 1 ? one : many}`;
}

function Legend({ marks }: { marks: readonly Mark[] }) {
  return (
    <ul class="legend" aria-label="Letters">
      {marks.map(({ letter, title }) => (
        <li key={title}>
          <b>{letter}</b> {title}
        </li>
      ))}
    </ul>
  );
}

function leftOutWords(people: number, objects: number, common: readonly { readonly words: string }[]): string {
  const distinct = [...new Set(common.map(({ words }) => words))];
  const same = distinct.length === 1 ? ` (${distinct[0]})` : '';
  return [
    people === 0 ? '' : `${people} people with the most common row${same} are left out.`,
    objects === 0 ? '' : `${objects} objects on which all members hold the same are left out.`,
  ]
    .filter((text) => text !== '')
    .join(' ');
}

/** The address may say anything. No team has the number 0. */
function numberIn(text: string): string {
  return /^\d{1,18}$/.test(text) ? text : '0';
}

/** Hands a text to the browser as a file. */
function save(text: string, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
