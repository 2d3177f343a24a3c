import {
  type Assignment,
  assignmentText,
  filterText,
  ORGANIZATION,
  placeText,
  principalText,
  readPlace,
  readPrincipal,
} from '../assignment-text.ts';
import { changesIn } from '../changes.ts';
import { command, type Group } from '../command.ts';
import { misuse } from '../failure.ts';
import { momentIn, shortTime } from '../moments.ts';
import { all, readId } from '../names.ts';
import { type Columns, list, one, type Shown, said } from '../output.ts';
import { permissionName } from '../permissions.ts';
import type { Session } from '../session.ts';
import { confirm } from '../terminal.ts';
import { done, TERM, termOf } from './role-assign.ts';

const id = { about: 'ID of the assignment' } as const;

async function get(session: Session, text: string): Promise<Assignment> {
  return await session.client().call('GET /authz/assignments/{id}', {
    path: { id: readId(text) },
    query: { org: session.org() },
  });
}

function shownAssignment(assignment: Assignment): Shown {
  return one(assignment, {
    id: (row) => row.id,
    role: (row) => row.role.name,
    to: (row) => principalText(row.to),
    on: (row) => placeText(row.on),
    ...(assignment.on.clusters !== undefined && { clusters: (row: Assignment) => row.on.clusters }),
    gives: (row) => row.effective.map(permissionName).join('\n'),
    ...(assignment.without_effect.length > 0 && {
      'without effect': (row: Assignment) => row.without_effect.map(permissionName).join('\n'),
    }),
    expires: (row) => shortTime(row.expires_at),
    reason: (row) => row.reason,
    ...(assignment.request_id !== null && { request: (row: Assignment) => row.request_id }),
    created: (row) => shortTime(row.created_at),
    ...(assignment.created_by && { by: ({ created_by: by }: Assignment) => by && principalText(by) }),
  });
}

export const assignments: Group = {
  summary: 'list who has which role, on what and until when; see also atrium role assign',
  byDefault: 'list',
  commands: {
    list: command({
      summary: 'list assignments of roles',
      details:
        'Lists all if you can view roles, otherwise those to you and your teams. The filters are about what is ' +
        'assigned: what a user has through teams is listed with the teams; atrium access shows everything.',
      options: {
        role: { about: 'only of this role', value: 'ROLE', kind: 'role' },
        to: { about: 'only to this user, team or robot, such as user:dan', value: 'WHOM', kind: 'principal' },
        on: { about: 'only on this object, such as cluster:prod, or on organization', value: 'OBJECT', kind: 'place' },
        'expires-before': { about: 'only what ends before this time, such as 7d or 2027-01-31', value: 'WHEN' },
      },
      examples: [
        'atrium assignments',
        'atrium assignments --to user:dan',
        'atrium assignments --on cluster:prod --role cluster-operator',
        'atrium assignments list --expires-before 7d --json id,role.name,to.name,expires_at',
      ],
      watch: {},
      async run(session, { options }) {
        const { role, to, on, 'expires-before': before } = options;
        if (role === '') throw misuse('--role needs the name or ID of a role');
        const place = on === undefined ? undefined : readPlace(on);
        const query = {
          org: session.org(),
          role,
          to: to === undefined ? undefined : filterText(readPrincipal(to)),
          on: on === undefined ? undefined : place ? filterText(place) : ORGANIZATION,
          expires_before: before === undefined ? undefined : momentIn(before, 1),
        };
        const found = await all(session.client().each('GET /authz/assignments', { query }));
        const columns: Columns<Assignment> = {
          id: (row) => row.id,
          role: (row) => row.role.name,
          to: (row) => principalText(row.to),
          on: (row) => placeText(row.on),
          ...(found.some((row) => row.expires_at) && { expires: (row: Assignment) => shortTime(row.expires_at) }),
          ...(found.some((row) => row.reason) && { reason: (row: Assignment) => row.reason }),
        };
        return list(found, columns, 'none');
      },
    }),
    show: command({
      summary: 'show an assignment, and what it gives on its object',
      args: { id },
      examples: ['atrium assignments show 31'],
      watch: {},
      async run(session, { args }) {
        return shownAssignment(await get(session, args.id));
      },
    }),
    edit: command({
      summary: 'change when an assignment ends, or its reason',
      args: { id },
      options: TERM,
      examples: ['atrium assignments edit 31 --for 8h', 'atrium assignments edit 31 --no-expiry --because "joined"'],
      async run(session, { args, options }) {
        const body = changesIn(termOf(options), 'assignments edit');
        const at = { path: { id: readId(args.id) }, query: { org: session.org() } };
        return done('changed', await session.client().call('PATCH /authz/assignments/{id}', { ...at, body }));
      },
    }),
    delete: command({
      summary: 'end an assignment',
      args: { id },
      examples: ['atrium assignments delete 31 --yes'],
      async run(session, { args }) {
        const found = await get(session, args.id);
        await confirm(session, `End the assignment ${found.id}, ${assignmentText(found)}?`);
        const query = { org: session.org() };
        await session.client().call('DELETE /authz/assignments/{id}', { path: { id: found.id }, query });
        return said(`ended the assignment ${found.id}, ${assignmentText(found)}`);
      },
    }),
  },
};
