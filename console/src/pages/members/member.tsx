import { useSignal } from '@preact/signals';
import { useLocation, useRoute } from 'preact-iso';
import { orgPath, useOrg } from '../../data/org.ts';
import { me } from '../../data/session.ts';
import { Avatar, Card, Facts, WebLink } from '../../parts/bits.tsx';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Empty, Page, ShowPage } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { type Member, useMember } from './member-data.ts';
import { MemberHoldings } from './member-holdings.tsx';
import { MemberRecord } from './member-record.tsx';
import { RemoveMember, useRemoval } from './remove-member.tsx';
import './members.css';

export function MemberPage() {
  const { org, question } = useOrg();
  const login = useRoute().params.login ?? '';
  const member = useMember(org, login);
  return (
    <ShowPage title={login} within={org} of={member} whyNot={question('can_view_members', 'see the members')}>
      {({ found }) =>
        found ? (
          <MemberDetails key={login} org={org} member={found} isStale={member.isStale} />
        ) : (
          <Page title={login} within={org}>
            <Empty
              text={`${login} is not a member of this organization.`}
              action={<LinkButton href={orgPath(org, '/members')}>All members</LinkButton>}
            />
          </Page>
        )
      }
    </ShowPage>
  );
}

function MemberDetails({ org, member, isStale }: { org: string; member: Member; isStale: boolean }) {
  const { may, id } = useOrg();
  const { route } = useLocation();
  const removal = useRemoval();
  const isRemoving = useSignal(false);
  const { login } = member;
  const isMe = login === me.value?.login;
  return (
    <Page
      title={member.full_name || login}
      within={org}
      lead={isMe ? 'This is you.' : undefined}
      isStale={isStale}
      actions={
        <>
          <LinkButton
            icon="why"
            href={orgPath(org, `/access/why?${new URLSearchParams({ user: login, object: `organization:${id}` })}`)}
          >
            {isMe ? 'Why may I …?' : 'Why may they …?'}
          </LinkButton>
          <Button
            kind="danger"
            whyNot={removal.whyNot(login)}
            disabledBecause={removal.problem(login, member.teams)}
            onClick={() => (isRemoving.value = true)}
          >
            {isMe ? 'Leave organization' : 'Remove from organization'}
          </Button>
        </>
      }
    >
      <Card>
        <div class="member-face">
          <Avatar url={member.avatar_url} size={48} />
          <div class="grow">
            <Facts
              of={[
                { name: 'Username', value: <bdi>{login}</bdi> },
                { name: 'Email', value: <bdi>{member.email}</bdi> },
                { name: 'Joined', value: <When at={member.joined_at} never="not known" /> },
                { name: 'Location', value: <bdi>{member.location}</bdi> },
                ...workFacts(org, member),
                ...(member.managed_by_scim ? [{ name: 'Managed by', value: 'SCIM, from your identity provider' }] : []),
                ...(member.website ? [{ name: 'Website', value: <WebLink url={member.website} /> }] : []),
              ].filter(({ name }) => name !== 'Location' || member.location !== '')}
            />
          </div>
        </div>
      </Card>
      <MemberHoldings org={org} member={member} />
      {may('can_view_audit_log') && <MemberRecord org={org} member={member} />}
      {isRemoving.value && (
        <RemoveMember
          org={org}
          login={login}
          teams={member.teams}
          onClose={() => (isRemoving.value = false)}
          onDone={() => route(isMe ? '/' : orgPath(org, '/members'))}
        />
      )}
    </Page>
  );
}

/** What the identity provider says, as far as it says anything. */
function workFacts(org: string, member: Member) {
  const { title, department, employee_number: number, cost_center: costCenter, manager } = member;
  const managerName = member.manager_name ?? manager?.name;
  return [
    { name: 'Title', text: title },
    { name: 'Department', text: department },
    {
      name: 'Manager',
      text: managerName,
      href: manager && orgPath(org, `/members/${encodeURIComponent(manager.name)}`),
    },
    { name: 'Employee number', text: number },
    { name: 'Cost center', text: costCenter },
  ]
    .filter(({ text }) => text !== undefined)
    .map(({ name, text, href }) => ({
      name,
      value: href ? (
        <a href={href}>
          <bdi>{text}</bdi>
        </a>
      ) : (
        <bdi>{text}</bdi>
      ),
    }));
}
