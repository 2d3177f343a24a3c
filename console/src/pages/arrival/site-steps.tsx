import type { Answer } from '../../../../client/client.ts';
import { pageData } from '../../data/page-data.ts';
import { Checklist, type FirstStep } from './checklist.tsx';

export const SITE = 'site';

/** What the administrator of a new deployment does first. */
export function SiteSteps({ facts }: { facts: Answer<'GET /admin/overview'> }) {
  const steps: readonly FirstStep[] = [
    {
      title: 'Create an organization',
      isDone: facts.organizations > 0,
      text: 'People, teams and clusters belong to one. You become its owner.',
      verb: 'New organization',
      href: '/orgs/new',
    },
    {
      title: 'Have a second person',
      isDone: facts.users > 1,
      text: 'Invite people to an organization, or create accounts for them.',
      verb: 'Open people',
      href: '/admin/users',
    },
    {
      title: 'Have a second site administrator',
      isDone: facts.administrators > 1,
      text: 'If you lose your account, the other one can still manage the deployment.',
      verb: 'Open people',
      href: '/admin/users',
    },
    {
      title: 'Protect site administrators with a second factor',
      isDone: facts.administrators_without_factor === 0,
      text: lackingText(facts.administrators_without_factor, facts.administrators),
      verb: 'Your second factors',
      href: '/me/security',
    },
    {
      title: 'Set up email',
      isDone: pageData.features.mail,
      text: (
        <>
          Set <code>SMTP_URL</code> and start the server again. Until then, you hand over the links of invitations.
        </>
      ),
    },
    {
      title: 'Make a backup',
      isDone: facts.last_backup_at !== null,
      text: (
        <>
          On the machine of the server: <code>atrium backup atrium.tar.gz</code>
        </>
      ),
    },
  ];
  return <Checklist about={SITE} title="First steps of this deployment" steps={steps} />;
}

function lackingText(count: number, all: number): string {
  if (all === 1) return 'Your password alone opens everything. An authenticator app or a passkey takes a minute.';
  return count === 1 ? 'One of them has none.' : `${count} of them have none.`;
}
