import { type Db, sql } from '../../db/db.ts';
import type { ProviderStateStore } from './provider-state.ts';

const LIST = sql('providerState.list', 'select provider, logout_notice_at, fault_at, fault from provider_state');
const FAULT = sql(
  'providerState.fault',
  `insert into provider_state (provider, fault_at, fault) values ($1, $2, $3)
   on conflict (provider) do update set fault_at = excluded.fault_at, fault = excluded.fault`,
);

interface StateRow {
  provider: string;
  logout_notice_at: Date | null;
  fault_at: Date | null;
  fault: string | null;
}

export function createProviderStateStore(db: Db): ProviderStateStore {
  return {
    async list() {
      const rows = await db.query<StateRow>(LIST);
      return new Map(
        rows.map(({ provider, logout_notice_at, fault_at, fault }) => [
          provider,
          { logoutNoticeAt: logout_notice_at, faultAt: fault_at, fault },
        ]),
      );
    },

    // No right depends on it, so no revision is taken.
    async fault(provider, message, at) {
      await db.query(FAULT, [provider, at, message]);
    },
  };
}
