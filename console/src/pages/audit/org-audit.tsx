import { api } from '../../data/api.ts';
import { useKept } from '../../data/filters.ts';
import { useOrg } from '../../data/org.ts';
import { together, useList, useResource } from '../../data/resource.ts';
import { Page, Show } from '../../parts/page.tsx';
import { exportPath, useAuditFilters } from './audit-filters.tsx';
import { AuditLog } from './audit-log.tsx';
import { CheckButton, CheckOutcome, useLogCheck } from './log-check.tsx';

export function OrgAuditPage() {
  const { org, question } = useOrg();
  const filters = useAuditFilters();
  const log = useKept(useList('GET /orgs/{org}/audit', { path: { org }, query: filters.query }), org);
  // A user who may not read the log may not count it either.
  const actions = useResource(log.data === undefined ? undefined : 'GET /orgs/{org}/audit/actions', { path: { org } });
  const counted = log.data === undefined ? undefined : 'GET /orgs/{org}/audit/histogram';
  const histogram = useKept(useResource(counted, { path: { org }, query: filters.asked }), org);
  const check = useLogCheck({
    read: () => api.lines('GET /orgs/{org}/audit/export', { path: { org } }),
    look: () => api.request('GET /orgs/{org}/audit', { path: { org }, query: { limit: 1 } }),
    ask: async (query) => {
      const { rows, first_broken_id: broken } = await api.call('GET /orgs/{org}/audit/verify', {
        path: { org },
        query,
      });
      return { entries: rows, firstBroken: broken === null ? undefined : String(broken) };
    },
  });
  return (
    <Page
      title="Audit log"
      within={org}
      lead="Who changed what, and when. Entries cannot be changed without it showing."
      isStale={log.isStale}
      actions={
        <>
          <a
            class="button plain"
            href={exportPath(`/api/v1/orgs/${encodeURIComponent(org)}/audit/export`, filters.asked)}
            download={`${org}-audit.ndjson`}
          >
            {Object.values(filters.asked).some(Boolean) ? 'Export what is shown' : 'Export'}
          </a>
          <CheckButton check={check} />
        </>
      }
    >
      <CheckOutcome check={check} />
      <Show
        of={log.data === undefined ? log : together(log, histogram)}
        whyNot={question('can_view_audit_log', 'see the audit log')}
      >
        {(entries) => (
          <AuditLog filters={filters} log={log} entries={entries} actions={actions.data} histogram={histogram.data} />
        )}
      </Show>
    </Page>
  );
}
