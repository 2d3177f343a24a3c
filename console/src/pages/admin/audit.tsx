import { useKept } from '../../data/filters.ts';
import { useList } from '../../data/resource.ts';
import { Page, Show } from '../../parts/page.tsx';
import { AuditLog, useAuditFilters } from './audit-log.tsx';

export function AdminAuditPage() {
  const filters = useAuditFilters();
  const log = useKept(useList('GET /admin/audit', { query: filters.query }), '');
  return (
    <Page
      title="Audit log"
      within="Administration"
      lead="Everything that was changed in this deployment."
      isStale={log.isStale}
    >
      <Show of={log}>{(entries) => <AuditLog filters={filters} log={log} entries={entries} />}</Show>
    </Page>
  );
}
