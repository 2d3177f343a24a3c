import assert from 'node:assert/strict';
import type { SignedAccess } from '../../src/http/admission/access.ts';
import { SINGLE_TYPES, type SingleCaller, type SingleType } from '../support/world/single-object-world.ts';

/** What the specification calls otherwise than the model, which says `can_` and the word before the colon. */
const MODEL_NAMES: Readonly<Record<string, string>> = {
  'viewer:role': 'viewer',
  'delete:team': 'remover',
  'assign_roles:org': 'assigner',
  'view_all_robots:org': 'can_view_robots',
};
/** Lists that are open to callers who may view some object of the type because of a role, and how the model says so. */
export const LISTS: Readonly<Record<string, readonly [SingleType, string]>> = {
  'view_clusters:org': ['cluster', 'can_view'],
  'view_contracts:org': ['contract', 'can_view'],
  'view_robots:org': ['robot_ac', 'can_view'],
  'view_teams:org': ['team', 'assigned_viewer'],
};
export const PLURALS: Readonly<Record<SingleType, string>> = {
  cluster: 'clusters',
  contract: 'contracts',
  robot_ac: 'robots',
  team: 'teams',
};

export function relationFor({ isRobot }: SingleCaller, access: SignedAccess): string | undefined {
  if (access.relation !== undefined) return access.relation;
  return isRobot && access.robots.includes(':') ? access.robots : undefined;
}

export function modelName(relation: string): string {
  return MODEL_NAMES[relation] ?? `can_${relation.replace(/^can_/, '').split(':')[0]}`;
}

export function typeOf({ relation }: SignedAccess): SingleType {
  const type = relation?.split(':')[1] as SingleType;
  assert.ok(SINGLE_TYPES.includes(type), relation);
  return type;
}

export function notFound(type: SingleType): string {
  return `${PLURALS[type].slice(0, -1)}_not_found`;
}
