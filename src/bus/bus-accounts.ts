import { type AccountClaims, accountJwt, operatorJwt, type Passage } from './jwt-claims.ts';
import type { KeyName, Keyring, Keyrings } from './keyring.ts';
import type { ServerSetup } from './server-config.ts';
import { ROOTS } from './subjects.ts';

/** What was revoked, as of one moment. */
export interface AccountsState {
  /** Whole seconds since 1970; increases with every change. */
  readonly changedAt: number;
  readonly revoked: readonly { readonly realm: string; readonly publicKey: string }[];
}

export interface AccountsStore {
  state(): Promise<AccountsState>;
  changedAt(): Promise<number>;
}

export type Accounts = ReturnType<typeof createAccounts>;

/**
 * A key stays revoked for whatever is signed with it before this moment, the end of the year 9999. The moment of the
 * revocation would not do: a clock that was set back in between would let credentials of before through.
 */
const FOREVER = 253_402_300_799;
/** The subject prefix under which administrators reach what the application account listens to. */
const SPEAK = 'app';

/**
 * What the bus has to know about its accounts. The texts depend only on the keys and the state, so every replica
 * creates the same ones, and sending them twice changes nothing.
 */
export function createAccounts(keyrings: Keyrings, store: AccountsStore) {
  return { describe, changedAt: () => store.changedAt() };

  async function describe(): Promise<ServerSetup & { readonly changedAt: number }> {
    const keys = await keyrings.get();
    const state = await store.state();
    const created = seconds(keys.createdAt);
    return {
      changedAt: state.changedAt,
      operatorJwt: operatorJwt(keys.operator, {
        name: 'atrium',
        issuedAt: created,
        systemAccount: keys.system.publicKey,
      }),
      systemAccount: keys.system.publicKey,
      accounts: [
        account('system', { issuedAt: created }),
        account('application', { issuedAt: state.changedAt, jetStream: true, exports: EXPORTS }),
        account('administration', { issuedAt: state.changedAt, imports: importsFrom(keys) }),
      ],
    };

    function account(name: Exclude<KeyName, 'operator'>, claims: Omit<AccountClaims, 'name' | 'account'>) {
      const key = keys[name].publicKey;
      return { name, key, jwt: accountJwt(keys.operator, { ...claims, name, account: key, revoked: revokedIn(name) }) };
    }

    function revokedIn(realm: string): Map<string, number> {
      const revoked = state.revoked.filter((one) => one.realm === realm);
      return new Map(revoked.map((one) => [one.publicKey, FOREVER]));
    }
  }
}

const EXPORTS: readonly Passage[] = ROOTS.flatMap((root) => [
  { name: `hear ${root}`, subject: `${root}.>`, type: 'stream' },
  { name: `speak ${root}`, subject: `${root}.>`, type: 'service' },
]);

/**
 * Administrators receive everything under its own subject and publish under a prefix. With the same subject in both
 * directions, the server would carry a message back to where it came from and deliver it twice.
 */
function importsFrom({ application }: Keyring): NonNullable<AccountClaims['imports']> {
  return EXPORTS.map((one) => ({
    ...one,
    account: application.publicKey,
    ...(one.type === 'service' && { localSubject: `${SPEAK}.${one.subject}` }),
  }));
}

function seconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}
