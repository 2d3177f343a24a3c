import type { Authz } from '../authz/authz.wiring.ts';
import type { GuardrailChecks } from '../guardrails/guardrail-check.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createAssignmentFile } from './assignment-file.ts';
import { expireRoles } from './expired-roles.store.ts';
import { modelWordsRoutes } from './model-words.routes.ts';
import { describeModel } from './model-words.ts';
import { createPastRoles } from './past-roles.ts';
import { roleFileRoutes } from './role-file.routes.ts';
import { createRoleFileStore } from './role-file.store.ts';
import { createRoleFile, type GuardrailReader } from './role-file.ts';
import { createRoleFileCheck } from './role-file-check.ts';
import { createRolePeopleStore } from './role-people.store.ts';
import { createRolePeople } from './role-people.ts';
import { roleRoutes } from './roles.routes.ts';
import { createRoleStore } from './roles.store.ts';
import { createRoles } from './roles.ts';
import { teamRoleRoutes } from './team-roles.routes.ts';
import { createTeamRoles } from './team-roles.ts';

interface Guarding {
  readonly guardrails: GuardrailReader;
  readonly guardrailChecks: GuardrailChecks;
}

export function wireRoles(
  { db, revisions, quotas }: Infrastructure,
  authz: Authz,
  { guardrails, guardrailChecks }: Guarding,
) {
  const { model, modelText, judge, heldPlaces } = authz;
  const store = createRoleStore(db, revisions.write, quotas);
  revisions.addExpirer(expireRoles);
  const roles = createRoles(store, judge, quotas.limits);
  const rolePeople = createRolePeople(createRolePeopleStore(db), judge);
  const pastRoles = createPastRoles(authz.past, authz.timeMachine);
  return { roles, mount };

  function mount(scope: Scope): void {
    roleRoutes(scope, roles, rolePeople, pastRoles);
    modelWordsRoutes(scope, modelText, describeModel(model));
    const fileStore = createRoleFileStore(db, revisions.write);
    const assignmentFile = createAssignmentFile(judge, heldPlaces);
    const check = createRoleFileCheck(guardrailChecks);
    const roleFile = createRoleFile(fileStore, judge, quotas.limits, guardrails, assignmentFile, check);
    roleFileRoutes(scope, roleFile, pastRoles);
    teamRoleRoutes(scope, createTeamRoles(roles, judge), rolePeople);
  }
}
