import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../base/errors.ts';
import { ROOT } from '../base/release.ts';
import type { Instance } from '../instance.ts';

/** The token is in the log from then on, and logs are kept. Its owner sets a password long before it expires. */
const TOKEN_DAYS = 30;

/** A package has no scripts for npm to run. */
const DEMO = existsSync(join(ROOT, 'scripts', 'run.mjs')) ? 'npm run demo' : 'atrium serve --demo';

/** An empty database gets one site administrator, whose token is shown only this once. */
export async function createFirstAdministrator(
  { features, identity }: Pick<Instance, 'features' | 'identity'>,
  address: string,
  say: (line: string) => void,
): Promise<void> {
  if (await features.users.anyAccount()) return;
  const root = { name: 'root', email: 'root@localhost', fullName: 'Administrator', isAdmin: true };
  const id = await features.users.create(root).catch((error: unknown) => {
    // Another replica that started at the same moment was faster and shows the token.
    if (error instanceof AppError && error.kind === 'malformed') return undefined;
    throw error;
  });
  if (id === undefined) return;
  const expiresAt = new Date(Date.now() + TOKEN_DAYS * 86_400_000);
  const { text } = await identity.tokens.issue({ accountId: id, name: 'first start', scopes: ['all'], expiresAt });
  say('');
  say('This is a new deployment. Its site administrator is root, with this token. It is shown only once, so save it;');
  say(`it expires in ${TOKEN_DAYS} days. To end it sooner, run: atrium token delete "first start"`);
  say('');
  say(`  TOKEN=${text}`);
  say('');
  // What follows the # stays in the browser: no server sees it, and no log.
  say('To set a password and look around, open this address in a browser:');
  say('');
  say(`  ${address}/welcome#token=${text}`);
  say('');
  say('To check the token, copy the line above and this one into a shell:');
  say('');
  say(`  curl -H "Authorization: token $TOKEN" ${address}/api/v1/user`);
  say('');
  say(`The API is documented at ${address}/api/v1/docs. To try it with example data, run: DATA_DIR=./demo ${DEMO}`);
  say('');
}
