import { api } from '../../data/api.ts';
import { useKept } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';
import { Show } from '../../parts/page.tsx';
import { useAuditFilters } from '../audit/audit-filters.tsx';
import { AuditLog } from '../audit/audit-log.tsx';
import { CheckButton, CheckOutcome, useLogCheck } from '../audit/log-check.tsx';
import { MePage } from './me-page.tsx';

export function ActivityPage() {
  const filters = useAuditFilters();
  const log = useKept(useList('GET /user/audit', { query: filters.query }), '');
  const check = useLogCheck({
    read: () => api.lines('GET /user/audit/export'),
    look: () => api.request('GET /user/audit', { query: { limit: 1 } }),
  });
  return (
    <MePage
      title="My activity"
      lead="What happened to your account and to what you own yourself, and who did it. If something is not yours, change your password."
      isStale={log.isStale}
      actions={<CheckButton check={check} />}
    >
      <CheckOutcome check={check} />
      <Show of={log}>{(entries) => <AuditLog filters={filters} log={log} entries={entries} />}</Show>
    </MePage>
  );
}
