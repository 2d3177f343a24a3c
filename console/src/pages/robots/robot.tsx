import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg, usePageObject } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { useVersion } from '../../data/version.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { heartbeatCommand } from '../../parts/heartbeat-command.ts';
import { Empty, Page, Show, ShowPage } from '../../parts/page.tsx';
import { RotateToken } from '../../parts/rotate-token.tsx';
import { ShownSecret } from '../../parts/secret.tsx';
import { notify } from '../../parts/toast.tsx';
import { expiryOf, LIFETIMES } from '../../parts/token-lifetime.ts';
import { TokenTable } from '../../parts/token-table.tsx';
import { Assignments } from '../assignments/assignments.tsx';
import { MemberAccess, useMemberAccess } from '../members/member-access.tsx';
import { TrustRules } from './trust-rules.tsx';

type Robot = Answer<'GET /robots/{id}'>;

export function RobotPage() {
  const { org, question } = useOrg();
  const id = useRoute().params.id ?? '';
  const robot = useResource('GET /robots/{id}', { path: { id } });
  return (
    <ShowPage title="Robot" within={org} of={robot} whyNot={question('can_view_robots', 'see the robot accounts')}>
      {(found) => <RobotDetails robot={found} etag={robot.etag} />}
    </ShowPage>
  );
}

function RobotDetails({ robot, etag }: { robot: Robot; etag: string | undefined }) {
  const { org } = useOrg();
  const { route } = useLocation();
  const { whyNot } = usePageObject();
  const tokens = useList('GET /robots/{id}/tokens', { path: { id: robot.id }, query: { limit: 50 } });
  const dialog = useSignal<'edit' | 'delete' | 'token' | undefined>(undefined);
  const created = useSignal<CreatedToken | undefined>(undefined);
  const revoked = useSignal<{ id: bigint; name: string } | undefined>(undefined);
  const rotated = useSignal<{ id: bigint; name: string; scopes: readonly string[] } | undefined>(undefined);
  const close = () => (dialog.value = undefined);
  return (
    <Page
      title={robot.name}
      within={org}
      lead={robot.description}
      actions={
        <>
          <span data-key="e">
            <Button whyNot={whyNot('can_edit', 'change this robot')} onClick={() => (dialog.value = 'edit')}>
              Edit robot
            </Button>
          </span>
          <Button
            kind="danger"
            whyNot={whyNot('can_delete', 'delete this robot')}
            onClick={() => (dialog.value = 'delete')}
          >
            Delete robot
          </Button>
        </>
      }
    >
      <Card
        title="Tokens"
        actions={
          <span data-key="n">
            <Button icon="plus" onClick={() => (dialog.value = 'token')}>
              New token
            </Button>
          </span>
        }
      >
        <Show of={tokens}>
          {(all) =>
            all.length === 0 ? (
              <Empty text="This robot has no token yet, so no program can sign in as it." />
            ) : (
              <TokenTable
                tokens={all}
                total={tokens.total}
                hasMore={tokens.hasMore}
                onMore={tokens.loadMore}
                onRevoke={(token) => (revoked.value = token)}
                onRotate={(token) => (rotated.value = token)}
              />
            )
          }
        </Show>
      </Card>
      <TrustRules robot={robot} />
      <Assignments
        org={org}
        given={{ to: { type: 'robot_ac', id: robot.id, name: robot.name } }}
        title="Roles"
        empty="No role is assigned to this robot. It can report the state of clusters, and nothing else."
      />
      <RobotHoldings org={org} name={robot.name} />
      {dialog.value === 'edit' && <EditRobot robot={robot} etag={etag} onClose={close} />}
      {dialog.value === 'token' && (
        <NewRobotToken robot={robot} onClose={close} onCreated={(token) => (created.value = token)} />
      )}
      {rotated.value && (
        <RotateToken
          name={rotated.value.name}
          rotate={(hours) =>
            api.call('POST /robots/{id}/tokens/{token}/rotate', {
              path: { id: robot.id, token: rotated.value?.id ?? 0n },
              body: { overlap_hours: hours },
            })
          }
          onClose={() => (rotated.value = undefined)}
          onCreated={(text) => {
            created.value = { text, isForScim: rotated.value?.scopes.includes('scim') === true };
          }}
        />
      )}
      {created.value !== undefined && (
        <ShownSecret
          title="The new token"
          secret={created.value.text}
          commands={[usageOf(created.value)]}
          onClose={() => (created.value = undefined)}
        />
      )}
      {revoked.value && (
        <Confirm
          title={`Revoke the token ${revoked.value.name}?`}
          verb="Revoke token"
          done={`The token ${revoked.value.name} was revoked.`}
          change={() =>
            api.call('DELETE /robots/{id}/tokens/{token}', { path: { id: robot.id, token: revoked.value?.id ?? 0n } })
          }
          onClose={() => (revoked.value = undefined)}
        >
          <p>Programs that use it are rejected from the next request on. This cannot be undone.</p>
        </Confirm>
      )}
      {dialog.value === 'delete' && (
        <Confirm
          title={`Delete the robot account ${robot.name}?`}
          verb="Delete robot"
          typedName={robot.name}
          done={`The robot account ${robot.name} was deleted.`}
          change={() => api.call('DELETE /robots/{id}', { path: { id: robot.id } })}
          onClose={close}
          onDone={() => route(orgPath(org, '/robots'))}
        >
          <p>Its tokens are revoked and its roles end with it. This cannot be undone.</p>
        </Confirm>
      )}
    </Page>
  );
}

/** Everything that follows from its roles, for those who ask. */
function RobotHoldings({ org, name }: { org: string; name: string }) {
  const isOpen = useSignal(false);
  const login = `robot:${name}`;
  const access = useMemberAccess(org, isOpen.value ? login : undefined);
  if (isOpen.value) return <MemberAccess org={org} login={login} access={access} title="What it may do, and why" />;
  return (
    <div class="line">
      <Button onClick={() => (isOpen.value = true)}>Show what it may do, and why</Button>
      <a href={orgPath(org, `/access/matrix?${new URLSearchParams({ users: login })}`)}>On which objects</a>
    </div>
  );
}

function EditRobot({ robot, etag, onClose }: { robot: Robot; etag: string | undefined; onClose: () => void }) {
  const name = useSignal(robot.name);
  const description = useSignal(robot.description);
  const version = useVersion(etag);
  const save = useAction(async () => {
    const body = { name: name.value, description: description.value };
    const path = { id: robot.id };
    await version.save((ifMatch) => api.call('PATCH /robots/{id}', { path, body, ifMatch }));
    notify({ kind: 'ok', text: 'The robot account was saved.' });
  });
  return (
    <FormDialog
      title={`Edit ${robot.name}`}
      verb="Save robot"
      action={save}
      fields={['name', 'description']}
      onClose={onClose}
    >
      <TextField label="Name" value={name} isRequired error={save.fieldError('name')} />
      <TextField label="Description" value={description} error={save.fieldError('description')} />
    </FormDialog>
  );
}

interface CreatedToken {
  readonly text: string;
  readonly isForScim: boolean;
}

function usageOf({ isForScim }: CreatedToken) {
  if (isForScim) {
    return { title: 'Base URL of SCIM, for your identity provider', text: `${location.origin}/scim/v2` };
  }
  return {
    title: 'Report that a cluster is alive',
    text: heartbeatCommand(),
  };
}

/** A token for SCIM can do nothing else, so it is one or the other. */
const PURPOSES = [
  { value: 'clusters', label: 'Reporting the state of clusters' },
  { value: 'scim', label: 'Provisioning people by SCIM' },
] as const;

interface NewTokenProps {
  readonly robot: Robot;
  readonly onClose: () => void;
  readonly onCreated: (token: CreatedToken) => void;
}

function NewRobotToken({ robot, onClose, onCreated }: NewTokenProps) {
  const name = useSignal('');
  const days = useSignal('30');
  const purpose = useSignal<string>('clusters');
  const create = useAction(async () => {
    const isForScim = purpose.value === 'scim';
    const scopes = isForScim ? { scopes: ['scim'] as const } : {};
    const token = await api.call('POST /robots/{id}/tokens', {
      path: { id: robot.id },
      body: { name: name.value, expires_at: expiryOf(days.value), ...scopes },
    });
    onCreated({ text: token.sha1, isForScim });
  });
  return (
    <FormDialog
      title={`New token for ${robot.name}`}
      verb="Create token"
      action={create}
      fields={['name', 'scopes']}
      onClose={onClose}
    >
      <TextField label="Name" value={name} isRequired autoFocus error={create.fieldError('name')} />
      <SelectField
        label="Used for"
        value={purpose}
        choices={PURPOSES}
        hint={
          purpose.value === 'scim'
            ? `The identity provider calls ${location.origin}/scim/v2. Only owners can create such a token: it can make any user an owner.`
            : undefined
        }
        error={create.fieldError('scopes')}
      />
      <SelectField label="Expires" value={days} choices={LIFETIMES} error={create.fieldError('expires_at')} />
    </FormDialog>
  );
}
