import type { Permission } from '../identity/callers.ts';

export interface TeamDraft {
  readonly name: string;
  readonly description: string;
  readonly permission: Permission;
  readonly type: 'builtin' | 'custom';
  readonly units?: readonly string[];
}

/** Every organization is created with these teams, with its founder in the first. */
export const BUILT_IN_TEAMS: readonly TeamDraft[] = [
  { name: 'Owners', permission: 'owner', type: 'builtin', description: 'May do everything in the organization.' },
  { name: 'Editors', permission: 'write', type: 'builtin', description: 'May change all resources.' },
  { name: 'Viewers', permission: 'read', type: 'builtin', description: 'May see all resources.' },
];
