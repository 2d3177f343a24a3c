import { useSignal } from '@preact/signals';
import { nameOfAction } from '../../../../client/permissions.ts';
import { useOrg, type WhyNotQuestion } from '../../data/org.ts';
import { type List, useList } from '../../data/resource.ts';
import { me } from '../../data/session.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Expires } from '../../parts/expiry.tsx';
import { ObjectLink } from '../../parts/marked-name.tsx';
import { Show } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Assign } from './assign.tsx';
import { type Assignment, assignmentWords, type Given } from './assignment.ts';
import { ChangeAssignment, EndAssignment } from './change-assignment.tsx';
import './assignments.css';

const PAGE = 50;

/** The assignments that a page is about. None are asked for while that is not known. */
export function useAssignments(org: string, given: Given | undefined): List<Assignment> {
  const { role, to, on } = given ?? {};
  return useList(given && 'GET /authz/assignments', {
    query: {
      org,
      ...(role && { role: role.id }),
      ...(to && { to: `${to.type}:${to.id}` }),
      ...(on && { on: `${on.type}:${on.id}` }),
      limit: PAGE,
    },
  });
}

interface AssignmentsProps {
  readonly org: string;
  readonly given: Given;
  readonly title: string;
  /** What to say if there is none. */
  readonly empty: string;
}

export function Assignments(props: AssignmentsProps) {
  return <AssignmentCard {...props} of={useAssignments(props.org, props.given)} />;
}

/** Why the caller may not assign roles, if they may not. */
export function useCannotAssign(): WhyNotQuestion | undefined {
  const { may, question } = useOrg();
  const cannot = may('can_assign_roles') === false && may('can_edit_roles') === false;
  return cannot ? question('can_assign_roles', 'assign roles') : undefined;
}

/** Who has which role on what, until when and why, with the buttons that change it. */
export function AssignmentCard({ org, given, title, empty, of }: AssignmentsProps & { of: List<Assignment> }) {
  const { may, question } = useOrg();
  const cannot = useCannotAssign();
  const isAdding = useSignal(false);
  return (
    <Card
      title={title}
      actions={
        <span data-key="a">
          <Button icon="plus" whyNot={cannot} onClick={() => (isAdding.value = true)}>
            Assign role
          </Button>
        </span>
      }
    >
      <Show of={of} rows={2} whyNot={question('can_view_roles', 'see the assignments')}>
        {(all) =>
          all.length === 0 ? (
            <p class="quiet">{empty}</p>
          ) : (
            <AssignmentTable org={org} given={given} title={title} of={of} all={all} cannot={cannot} />
          )
        }
      </Show>
      {may('can_view_roles') === false && (
        <p class="quiet small">You see only what is assigned to you and to your teams.</p>
      )}
      {isAdding.value && <Assign org={org} given={given} onClose={() => (isAdding.value = false)} />}
    </Card>
  );
}

interface AssignmentTableProps extends Omit<AssignmentsProps, 'empty'> {
  readonly of: List<Assignment>;
  readonly all: readonly Assignment[];
  readonly cannot: WhyNotQuestion | undefined;
}

function AssignmentTable({ org, given, title, of, all, cannot }: AssignmentTableProps) {
  const changed = useSignal<Assignment | undefined>(undefined);
  const ended = useSignal<Assignment | undefined>(undefined);
  return (
    <>
      <Table
        caption={title}
        rows={all}
        keyOf={({ id }) => String(id)}
        total={of.total}
        hasMore={of.hasMore}
        onMore={of.loadMore}
        columns={[
          ...nameColumns(org, given),
          ...(given.role === undefined || all.some(({ without_effect: others }) => others.length > 0)
            ? [{ key: 'gives', title: 'Gives', cell: (one: Assignment) => <Gives assignment={one} />, isMinor: true }]
            : []),
          {
            key: 'until',
            title: 'Until',
            cell: ({ expires_at: end }) => (end ? <Expires at={end} /> : <span class="quiet">no end</span>),
          },
          { key: 'reason', title: 'Reason', cell: ({ reason }) => <bdi class="cut">{reason}</bdi>, isMinor: true },
          { key: 'by', title: 'By', cell: (one) => <Creation org={org} assignment={one} />, isMinor: true },
          {
            key: 'actions',
            title: '',
            isNumber: true,
            cell: (one) => (
              <span class="row-buttons">
                <Button label={`Change ${assignmentWords(one)}`} whyNot={cannot} onClick={() => (changed.value = one)}>
                  Change
                </Button>
                <Button
                  label={`End ${assignmentWords(one)}`}
                  whyNot={isMine(one) ? undefined : cannot}
                  onClick={() => (ended.value = one)}
                >
                  End
                </Button>
              </span>
            ),
          },
        ]}
      />
      {changed.value && (
        <ChangeAssignment org={org} assignment={changed.value} onClose={() => (changed.value = undefined)} />
      )}
      {ended.value && <EndAssignment org={org} assignment={ended.value} onClose={() => (ended.value = undefined)} />}
    </>
  );
}

/** What the page is about need not be said in each row. */
function nameColumns(org: string, { role, to, on }: Given): readonly Column<Assignment>[] {
  const link = (of: Parameters<typeof ObjectLink>[0]['of']) => <ObjectLink org={org} of={of} />;
  return [
    ...(role ? [] : [{ key: 'role', title: 'Role', cell: (one: Assignment) => link({ type: 'role', ...one.role }) }]),
    ...(to ? [] : [{ key: 'to', title: 'To', cell: (one: Assignment) => link(one.to) }]),
    ...(on ? [] : [{ key: 'on', title: 'On', cell: (one: Assignment) => <PlaceLink org={org} on={one.on} /> }]),
  ];
}

export function PlaceLink({ org, on }: { org: string; on: Assignment['on'] }) {
  if (on.type === 'organization') return <>the organization</>;
  const { clusters } = on;
  return (
    <>
      <ObjectLink org={org} of={on} isKindShown />
      {clusters !== undefined && (
        <span class="quiet small">{` (${clusters} ${clusters === 1 ? 'cluster' : 'clusters'})`}</span>
      )}
    </>
  );
}

/** What counts of the role there. What does not is shown on hover. */
function Gives({ assignment: { effective, without_effect: others } }: { assignment: Assignment }) {
  const without = others.map(({ action }) => nameOfAction(action)).join(', ');
  return (
    <span class="gives" title={without === '' ? undefined : `Without effect there: ${without}`}>
      {effective.length === 0 ? (
        <span class="quiet">nothing there</span>
      ) : (
        effective.map(({ action }) => nameOfAction(action)).join(', ')
      )}
    </span>
  );
}

/** Who assigned it, and on hover when. */
function Creation({ org, assignment }: { org: string; assignment: Assignment }) {
  const { created_at: at, created_by: by } = assignment;
  return (
    <span title={new Date(at).toISOString()}>
      {by === null ? <span class="quiet">not known</span> : <ObjectLink org={org} of={by} />}
    </span>
  );
}

/** Every user may give up their own assignments. */
function isMine({ to }: Assignment): boolean {
  return to.type === 'user' && to.name === me.value?.login;
}
