import type { Actor } from '../../changes/audit-entry.ts';

/** The actor in the audit log for commands that are run on the server's own machine. */
export const OPERATOR: Actor = { id: 0n, name: 'operator', requestId: 'command' };

/** What entries about installers and secrets are about: neither has a number, and their texts grant access. */
export const ABOUT_MARKETPLACE = { objectType: 'marketplace', objectId: 0n };
