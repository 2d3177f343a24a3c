import type { Db } from '../db/db.ts';
import { createCallerStore } from './callers.store.ts';
import { createCallers } from './callers.ts';
import type { Clock } from './clock.ts';
import { createOrganizationStore } from './organizations.store.ts';
import { createOrganizations } from './organizations.ts';
import { createPeopleStore } from './people.store.ts';
import { createPeople } from './people.ts';
import { createResourceStore } from './resources.store.ts';
import { createSessionStore } from './sessions.store.ts';
import { createSessions } from './sessions.ts';
import { createTokenUsageStore } from './token-usage.store.ts';
import { createTokenUsage } from './token-usage.ts';
import { createTokenStore } from './tokens.store.ts';
import { createTokens } from './tokens.ts';

export type Directory = ReturnType<typeof createDirectory>;

/** The nouns of the house, put together: people, organizations, what they own, and how they prove who they are. */
export function createDirectory(db: Db, clock: Clock, secretKey: Buffer) {
  return {
    people: createPeople(createPeopleStore(db, clock.write)),
    organizations: createOrganizations(createOrganizationStore(clock.write)),
    resources: createResourceStore(clock.write),
    tokens: createTokens(createTokenStore(clock.write), secretKey),
    sessions: createSessions(createSessionStore(clock.write), secretKey),
    callers: createCallers(createCallerStore(db), clock, secretKey),
    usage: createTokenUsage(createTokenUsageStore(db)),
  };
}
