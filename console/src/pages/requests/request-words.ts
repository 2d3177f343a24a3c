import type { Answer } from '../../../../client/client.ts';
import { titleOf } from '../../../../client/object-kinds.ts';
import { nameOfRelation } from '../../../../client/permissions.ts';
import { orgPath } from '../../data/org.ts';
import { askedName } from '../../data/principal.ts';
import type { Tone } from '../../parts/bits.tsx';

export type AccessRequest = Answer<'GET /authz/requests/{id}'>;
export type RequestState = AccessRequest['state'];

export const STATE_TONES: Readonly<Record<RequestState, Tone>> = {
  open: 'info',
  approved: 'ok',
  denied: 'bad',
  cancelled: 'quiet',
  expired: 'quiet',
  failed: 'bad',
  ended: 'quiet',
};

export const STATE_CHOICES = [
  { value: '', label: 'All' },
  ...(Object.keys(STATE_TONES) as RequestState[]).map((state) => ({
    value: state,
    label: `${state.charAt(0).toUpperCase()}${state.slice(1)}`,
  })),
];

export function requestPath({ organization, id }: Pick<AccessRequest, 'organization' | 'id'>): string {
  return orgPath(organization, `/requests/${id}`);
}

/** `connect: cluster prod in the namespace jobs` */
export function askedFor({ asks }: Pick<AccessRequest, 'asks'>): string {
  const { relation, object, namespaces } = asks;
  const verb = nameOfRelation(object.type, relation);
  const names = namespaces ?? [];
  const word = names.length === 1 ? 'namespace' : 'namespaces';
  const where = names.length === 0 ? '' : ` in the ${word} ${names.join(', ')}`;
  return `${verb}: ${titleOf(object.type)} ${object.name}${where}`;
}

/** What an approval does, such as "dan gets the role tuner on cluster prod". */
export function changeWords(change: AccessRequest['changes'][number], by: AccessRequest['by']): string {
  const { action, role, on, team, namespaces = [] } = change;
  if (action === 'team.add_member') return `${askedName(by)} joins the team ${team?.name ?? ''}`;
  const where = namespaces.length === 0 ? '' : `, only in ${namespaces.join(', ')}`;
  return `${askedName(by)} gets the role ${role?.name ?? ''} on ${on ? `${titleOf(on.type)} ${on.name}` : 'the organization'}${where}`;
}
