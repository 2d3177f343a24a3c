import type { Authz } from '../authz/authz.wiring.ts';
import type { Trials } from '../guardrails/trial.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { expireRoles } from './expired-roles.store.ts';
import { modelWordsRoutes } from './model-words.routes.ts';
import { describeModel } from './model-words.ts';
import { createPastRoles } from './past-roles.ts';
import { roleFileRoutes } from './role-file.routes.ts';
import { createRoleFileStore } from './role-file.store.ts';
import { createRoleFile, type GuardrailReader } from './role-file.ts';
import { createRolePeopleStore } from './role-people.store.ts';
import { createRolePeople } from './role-people.ts';
import { rolePreviewRoutes } from './role-preview.routes.ts';
import { createRolePreview } from './role-preview.ts';
import { createRoleRehearsal } from './role-rehearsal.ts';
import { roleRoutes } from './roles.routes.ts';
import { createRoleStore } from './roles.store.ts';
import { createRoles } from './roles.ts';
import { teamRoleRoutes } from './team-roles.routes.ts';
import { createTeamRoles } from './team-roles.ts';

interface Guarding {
  readonly guardrails: GuardrailReader;
  readonly trials: Trials;
}

export function wireRoles({ db, revisions, room }: Infrastructure, authz: Authz, { guardrails, trials }: Guarding) {
  const { model, modelText, graphs, judge, names } = authz;
  const store = createRoleStore(db, revisions.write, room);
  revisions.addExpirer(expireRoles);
  const roles = createRoles(store, judge, room.limits);
  const rolePeople = createRolePeople(createRolePeopleStore(db), judge);
  const pastRoles = createPastRoles(authz.past, authz.timeMachine);
  return { roles, mount };

  function mount(scope: Scope): void {
    roleRoutes(scope, roles, rolePeople, pastRoles);
    modelWordsRoutes(scope, modelText, describeModel(model));
    const fileStore = createRoleFileStore(db, revisions.write);
    const rehearse = createRoleRehearsal(graphs, trials);
    const roleFile = createRoleFile(fileStore, judge, room.limits, guardrails, rehearse);
    roleFileRoutes(scope, roleFile, pastRoles);
    rolePreviewRoutes(scope, createRolePreview(graphs, names, store, judge));
    teamRoleRoutes(scope, createTeamRoles(roles, judge), rolePeople);
  }
}
