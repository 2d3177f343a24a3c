import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { credentialRoutes } from './credentials.routes.ts';
import { createCredentialStore } from './credentials.store.ts';
import { createCredentials } from './credentials.ts';

export function wireCredentials({ db, revisions, quotas, vault }: Infrastructure) {
  const credentials = createCredentials(createCredentialStore(db, revisions.write, quotas), vault);
  return { credentials, mount: (scope: Scope) => credentialRoutes(scope, credentials) };
}
