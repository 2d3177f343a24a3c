import { orgPath, useOrg } from '../../data/org.ts';
import type { Overview } from '../orgs/overview-words.ts';
import { hasAskedWhy } from './asked-why.ts';
import { Checklist, type FirstStep } from './checklist.tsx';

/** A cluster in one of these has never reported. */
const SILENT = ['Registered', 'NotImported'];

/** What an owner does first. For those who cannot see all the facts, or cannot act on them, there is none. */
export function OrganizationSteps({ org, overview }: { org: string; overview: Overview }) {
  const { may } = useOrg();
  const { members, owners, roles, clusters, assignments, guardrails } = overview;
  const canAct = ['can_add_member', 'can_import_clusters', 'can_assign_roles'].every((one) => may(one) === true);
  if (!canAct || members === undefined || owners === undefined || clusters === undefined) return null;
  if (assignments === undefined || guardrails === undefined) return null;
  const reporting = Object.entries(clusters.by_phase).filter(([phase, count]) => count > 0 && !SILENT.includes(phase));
  const steps: readonly FirstStep[] = [
    {
      title: 'Invite a second person',
      isDone: members > 1,
      text: 'Paste an address. The person gets a link, creates an account with it, and joins your teams.',
      verb: 'Invite people',
      href: orgPath(org, '/invitations?invite=people'),
    },
    {
      title: 'Import a cluster',
      isDone: clusters.all > 0,
      text: 'A name and its UID are enough.',
      verb: 'Import a cluster',
      href: orgPath(org, '/clusters/import'),
    },
    {
      title: 'Have a cluster report',
      isDone: reporting.length > 0,
      text: 'Its page has the command that installs the agent.',
      verb: 'Open clusters',
      href: orgPath(org, '/clusters'),
    },
    {
      title: 'Give a role',
      isDone: assignments > 0,
      text: 'To a team or a person, on one cluster or on the whole organization, for as long as you say.',
      verb: roles === 0 ? 'New role' : 'Open roles',
      href: orgPath(org, roles === 0 ? '/roles/new' : '/roles'),
    },
    {
      title: 'Ask why',
      isDone: hasAskedWhy(),
      text: 'Every yes has a proof, and every no says what is missing.',
      verb: 'Ask why',
      href: orgPath(org, '/access/why'),
    },
    {
      title: 'Have a second owner',
      isDone: owners > 1,
      text: 'If you lose your account, the other one can still manage the organization.',
      verb: 'Open members',
      href: orgPath(org, '/members'),
    },
    {
      title: 'Set a guardrail',
      isDone: guardrails > 0,
      text: 'It says what must never be true. The server rejects every change that would break it.',
      verb: 'Open guardrails',
      href: orgPath(org, '/guardrails'),
    },
  ];
  return <Checklist about={`organization ${org}`} title="First steps" steps={steps} />;
}
