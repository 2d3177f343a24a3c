import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Icon, type IconName } from '../../icons/icon.tsx';

/** What a person who has just arrived does first. */
export function FirstSteps() {
  const orgs = useResource('GET /orgs', { query: { limit: 1 } });
  const org = orgs.data?.[0]?.name;
  return (
    <>
      <ul class="columns">
        <FirstStep
          href="/orgs/new"
          icon="overview"
          title="Create an organization"
          text="People, teams and clusters belong to one. You become its owner."
        />
        <FirstStep
          href={org === undefined ? undefined : orgPath(org, '/invitations?invite=people')}
          icon="mail"
          title="Invite people"
          text="Paste their addresses. Each gets a link, creates an account with it, and joins your teams."
        />
        <FirstStep
          href={org === undefined ? undefined : orgPath(org, '/clusters/import')}
          icon="clusters"
          title="Import a cluster"
          text="Give it a name and its UID. Its page leads you from there to kubectl get pods."
        />
        <FirstStep
          href={org === undefined ? undefined : orgPath(org, '/access/why')}
          icon="why"
          title="Ask why"
          text="See who may do what, through which team or role, and what is missing."
        />
      </ul>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </>
  );
}

interface FirstStepProps {
  /** Undefined as long as there is no organization to do it in. */
  readonly href: string | undefined;
  readonly icon: IconName;
  readonly title: string;
  readonly text: string;
}

function FirstStep({ href, icon, title, text }: FirstStepProps) {
  return (
    <li class={`card first-step ${href === undefined ? 'later' : ''}`}>
      <Icon name={icon} size={24} />
      <h2>{href === undefined ? title : <a href={href}>{title}</a>}</h2>
      <p class="quiet">{text}</p>
      {href === undefined && <p class="quiet small">Needs an organization.</p>}
    </li>
  );
}
