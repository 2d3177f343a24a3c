import { createAdministration } from './administration/administration.group.ts';
import { createAuthzGroup } from './authz/authz.group.ts';
import type { Directory } from './directory/directory.group.ts';
import type { Ground } from './ground.ts';
import type { Brake } from './http/brake.ts';
import { createMarketplace } from './marketplace/marketplace.group.ts';
import { createUserGroup } from './user/user.group.ts';

export type Groups = Awaited<ReturnType<typeof createGroups>>;

/** The groups of routes on their ground. Where one needs an answer of another, it is handed over here. */
export async function createGroups(ground: Ground, directory: Directory, brake: Brake) {
  const authz = await createAuthzGroup(ground);
  const user = createUserGroup(ground, directory, brake, authz.clusters);
  const marketplace = createMarketplace(ground);
  const administration = createAdministration(ground, directory, authz.judge, authz.roles);
  return {
    authz,
    user,
    marketplace,
    /** Which routes stand where. */
    mounts: {
      platform: [authz.mount, user.mount, administration.mount, marketplace.mountPlatform],
      root: [user.mountRoot, marketplace.mountRoot],
      listener: [marketplace.mount],
    },
  };
}
