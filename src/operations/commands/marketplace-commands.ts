import { readInstallerCommand } from '../../marketplace/commands/installer-command.ts';
import { readMarketplaceCommand } from '../../marketplace/commands/marketplace-command.ts';
import type { RunInServer } from '../command-socket.ts';

export function installerIn(args: readonly string[]): RunInServer {
  const run = readInstallerCommand(args);
  return async ({ features }, print) => {
    for (const line of await run(features.marketplace.installers, new Date())) print(line);
  };
}

export function marketplaceIn(args: readonly string[]): RunInServer {
  const run = readMarketplaceCommand(args);
  return async ({ features }, print) => {
    for (const line of await run(features.marketplace)) print(line);
  };
}
