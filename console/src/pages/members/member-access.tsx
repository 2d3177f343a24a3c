import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import type { AccessGroup, AccessGroupReason, AccessReason, UserAccess } from '../../../../client/api.gen.ts';
import { OBJECT_KINDS } from '../../../../client/object-kinds.gen.ts';
import { ADDRESSED_TYPES, titleOf } from '../../../../client/object-kinds.ts';
import { nameOfRelation } from '../../../../client/permissions.ts';
import { useAction } from '../../data/action.ts';
import { orgPath } from '../../data/org.ts';
import { type Resource, useResource } from '../../data/resource.ts';
import { Card, Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Show } from '../../parts/page.tsx';
import { UserPicker } from '../../parts/user-picker.tsx';

const MAX_NAMED = 6;

/** Everything that a member holds, or a robot such as `robot:deploy`, in one call. */
export function useMemberAccess(org: string, login: string | undefined): Resource<UserAccess> {
  return useResource(login === undefined ? undefined : 'GET /authz/users/{username}/access', {
    path: { username: login ?? '' },
    query: { org, limit: 50 },
  }) as Resource<UserAccess>;
}

interface MemberAccessProps {
  readonly org: string;
  readonly login: string;
  readonly access: Resource<UserAccess>;
  readonly title?: string | undefined;
}

/** What a member or a robot holds, by type and reason. */
export function MemberAccess({ org, login, access, title = 'What they may do, and why' }: MemberAccessProps) {
  const isComparing = useSignal(false);
  return (
    <Card title={title} actions={<Button onClick={() => (isComparing.value = true)}>Compare with…</Button>}>
      <Show of={access}>{(found) => <Rows org={org} found={found} isRobot={login.startsWith('robot:')} />}</Show>
      {isComparing.value && <Compare org={org} login={login} onClose={() => (isComparing.value = false)} />}
    </Card>
  );
}

function Rows({ org, found, isRobot }: { org: string; found: UserAccess; isRobot: boolean }) {
  const byReason = [...Map.groupBy(found.permissions, ({ via }) => keyOf(via)).values()];
  const groups = found.types.flatMap(({ type, groups: some }) => some.map((group) => ({ type, group })));
  if (byReason.length + groups.length === 0) return <p class="quiet">Nothing that you may see.</p>;
  return (
    <div class="table-box access-rows">
      <table>
        <caption class="only-read">What the member may do, and why</caption>
        <thead>
          <tr>
            <th scope="col">On</th>
            <th scope="col">May</th>
            <th scope="col">Through</th>
          </tr>
        </thead>
        <tbody>
          {byReason.map((held) => (
            <tr key={keyOf(held[0]?.via ?? [])}>
              <th scope="row">the organization</th>
              <td>{held.map(({ relation }) => nameOfRelation('organization', relation)).join(', ')}</td>
              <td>
                <Reasons org={org} via={held[0]?.via ?? []} isRobot={isRobot} />
              </td>
            </tr>
          ))}
          {groups.map(({ type, group }) => (
            <tr key={`${type} ${keyOf(group.via)} ${group.relations.join()}`}>
              <th scope="row">
                <Objects org={org} type={type} group={group} />
              </th>
              <td>{group.relations.map((relation) => nameOfRelation(type, relation)).join(', ')}</td>
              <td>
                <Reasons org={org} via={group.via} isRobot={isRobot} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Objects({ org, type, group }: { org: string; type: string; group: AccessGroup }) {
  const addressed = ADDRESSED_TYPES.find((one) => one === type);
  const page = addressed && OBJECT_KINDS[addressed].plural;
  const named = group.objects.slice(0, MAX_NAMED);
  return (
    <>
      {group.count} {titleOf(type)}
      {group.count === 1 ? '' : 's'}:{' '}
      {named.map(({ id, name }, place) => (
        <span key={String(id)}>
          {place > 0 && ', '}
          {page === undefined ? <bdi>{name}</bdi> : <a href={orgPath(org, `/${page}/${id}`)}>{name}</a>}
        </span>
      ))}
      {group.count > named.length && ' …'}
    </>
  );
}

interface ReasonsProps {
  readonly org: string;
  readonly via: readonly (AccessReason | AccessGroupReason)[];
  readonly isRobot: boolean;
}

function Reasons({ org, via, isRobot }: ReasonsProps) {
  // A robot sees its organization without any role.
  if (via.length === 0) {
    return <span class="quiet">{isRobot ? 'being its robot' : 'a team or role that you may not see'}</span>;
  }
  return (
    <span class="line">
      {via.map(({ kind, id, name }) => {
        if (kind === 'platform') return <Chip key={kind}>site administrator</Chip>;
        if (kind === 'owner') return <Chip key={kind}>owns it</Chip>;
        return (
          <a key={`${kind} ${id}`} href={orgPath(org, `/${kind}s/${id}`)}>
            <Chip>
              {kind} {name}
            </Chip>
          </a>
        );
      })}
    </span>
  );
}

/** The matrix of two people shows just what differs. */
function Compare({ org, login, onClose }: { org: string; login: string; onClose: () => void }) {
  const other = useSignal('');
  const { route } = useLocation();
  const compare = useAction(async () => {
    const query = new URLSearchParams({ users: `${login},${other.value}`, differences: 'true' });
    route(orgPath(org, `/access/matrix?${query}`));
  });
  return (
    <FormDialog
      title={`Compare ${login} with another user`}
      verb="Compare"
      action={compare}
      onClose={onClose}
      disabledBecause={other.value === '' ? 'Choose a person first.' : undefined}
    >
      <UserPicker label="Person" value={other} />
    </FormDialog>
  );
}

function keyOf(via: readonly (AccessReason | AccessGroupReason)[]): string {
  return via.map(({ kind, id }) => `${kind} ${id}`).join();
}
