import type { Authz } from '../authz/authz.wiring.ts';
import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { assignmentRoutes } from './assignments.routes.ts';
import { createAssignmentStore } from './assignments.store.ts';
import { createAssignments } from './assignments.ts';
import { expireAssignments } from './expired-assignments.store.ts';

export function wireAssignments({ db, revisions, quotas, baseUrl }: Infrastructure, { judge, heldPlaces }: Authz) {
  revisions.addExpirer(expireAssignments);
  const assignments = createAssignments(createAssignmentStore(db, revisions.write, quotas), judge, heldPlaces);
  return {
    assignments,
    mount(scope: Scope): void {
      assignmentRoutes(scope, assignments, baseUrl);
    },
  };
}
