import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath, useOrg } from '../../data/org.ts';
import { useList } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { notify } from '../../parts/toast.tsx';
import { When } from '../../parts/when.tsx';

export function RobotsPage() {
  const { org, whyNot, question } = useOrg();
  const robots = useList('GET /orgs/{org}/robots', { path: { org }, query: { limit: 50 } });
  const isCreating = useSignal(false);
  const create = (
    <Button
      kind="main"
      icon="plus"
      whyNot={whyNot('can_create_robots', 'create robot accounts')}
      onClick={() => (isCreating.value = true)}
    >
      New robot
    </Button>
  );
  return (
    <Page
      title="Robots"
      within={org}
      lead="Accounts for programs, such as the agent of a cluster. They sign in with tokens only."
      isStale={robots.isStale}
      actions={<span data-key="n">{create}</span>}
    >
      <Show of={robots} whyNot={question('can_view_robots', 'see the robot accounts')}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="There are no robot accounts. The agent of a cluster uses one to report that the cluster is alive."
              action={create}
              command={`atrium robot create NAME --org ${org}`}
            />
          ) : (
            <Table
              caption="Robot accounts"
              rows={all}
              keyOf={(robot) => String(robot.id)}
              hrefOf={(robot) => orgPath(org, `/robots/${robot.id}`)}
              total={robots.total}
              hasMore={robots.hasMore}
              onMore={robots.loadMore}
              columns={[
                { key: 'name', title: 'Name', cell: (robot) => <bdi>{robot.name}</bdi> },
                {
                  key: 'description',
                  title: 'Description',
                  cell: (robot) => <bdi class="quiet">{robot.description}</bdi>,
                },
                { key: 'created', title: 'Created', cell: (robot) => <When at={robot.created_at} />, isMinor: true },
              ]}
            />
          )
        }
      </Show>
      {isCreating.value && <NewRobot org={org} onClose={() => (isCreating.value = false)} />}
    </Page>
  );
}

function NewRobot({ org, onClose }: { org: string; onClose: () => void }) {
  const { route } = useLocation();
  const name = useSignal('');
  const description = useSignal('');
  const create = useAction(async () => {
    const body = { name: name.value, description: description.value };
    const robot = await api.call('POST /orgs/{org}/robots', { path: { org }, body });
    notify({ kind: 'ok', text: `The robot account ${robot.name} was created.` });
    route(orgPath(org, `/robots/${robot.id}`));
  });
  return (
    <FormDialog
      title="New robot account"
      verb="Create robot"
      action={create}
      fields={['name', 'description']}
      onClose={onClose}
    >
      <TextField label="Name" value={name} isRequired autoFocus error={create.fieldError('name')} />
      <TextField label="Description" value={description} error={create.fieldError('description')} />
    </FormDialog>
  );
}
