import { readInstallerCommand } from '../../marketplace/commands/installer-command.ts';
import { readMarketplaceCommand } from '../../marketplace/commands/marketplace-command.ts';
import { isSecretCommand, secretSource } from '../../marketplace/commands/secret-command.ts';
import type { CommandRequest, RunInServer } from '../command-socket.ts';
import { readSecret } from './secret-input.ts';

export function installerIn(args: readonly string[]): RunInServer {
  const run = readInstallerCommand(args);
  return async ({ features }, print) => {
    for (const line of await run(features.marketplace.installers, new Date())) print(line);
  };
}

export function marketplaceIn(args: readonly string[], { secret }: CommandRequest): RunInServer {
  const run = readMarketplaceCommand(args, secret);
  return async ({ features }, print) => {
    for (const line of await run(features.marketplace)) print(line);
  };
}

/** Reads the secret that the command takes, if it takes one. */
export async function marketplaceSecret(args: readonly string[]): Promise<string | undefined> {
  return isSecretCommand(args) ? await readSecret(secretSource(args)) : undefined;
}
