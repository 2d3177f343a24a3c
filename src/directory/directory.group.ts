import type { Db } from '../db/db.ts';
import { createCallerStore } from './callers.store.ts';
import { createCallers } from './callers.ts';
import type { Clock } from './clock.ts';
import { createMemberStore } from './members.store.ts';
import { createMembers } from './members.ts';
import { createOrganizationStore } from './organizations.store.ts';
import { createOrganizations } from './organizations.ts';
import { createPeopleStore } from './people.store.ts';
import { createPeople } from './people.ts';
import { createPersonnelStore } from './personnel.store.ts';
import { createPersonnel } from './personnel.ts';
import { createResourceStore } from './resources.store.ts';
import { createSessionStore } from './sessions.store.ts';
import { createSessions } from './sessions.ts';
import { createTeamStore } from './teams.store.ts';
import { createTeams } from './teams.ts';
import { createTokenUsageStore } from './token-usage.store.ts';
import { createTokenUsage } from './token-usage.ts';
import { createTokenStore } from './tokens.store.ts';
import { createTokens } from './tokens.ts';

export type Directory = ReturnType<typeof createDirectory>;

/** The nouns of the house, put together: people, organizations, what they own, and how they prove who they are. */
export function createDirectory(db: Db, clock: Clock, secretKey: Buffer) {
  const teams = createTeams(createTeamStore(clock.write));
  const members = createMembers(createMemberStore(clock.write));
  return {
    people: createPeople(createPeopleStore(db, clock.write)),
    personnel: createPersonnel(createPersonnelStore(clock.write)),
    organizations: createOrganizations(createOrganizationStore(clock.write), teams, members),
    teams,
    members,
    resources: createResourceStore(clock.write),
    tokens: createTokens(createTokenStore(clock.write), secretKey),
    sessions: createSessions(createSessionStore(clock.write), secretKey),
    callers: createCallers(createCallerStore(db), clock, secretKey),
    usage: createTokenUsage(createTokenUsageStore(db)),
  };
}
