import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useKept } from '../../data/filters.ts';
import { useOrg } from '../../data/org.ts';
import { useList, useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { AuditLog, useAuditFilters } from './audit-log.tsx';

export function OrgAuditPage() {
  const { org, question } = useOrg();
  const filters = useAuditFilters();
  const log = useKept(useList('GET /orgs/{org}/audit', { path: { org }, query: filters.query }), org);
  // Whoever may not read the log may not count it either.
  const actions = useResource(log.data === undefined ? undefined : 'GET /orgs/{org}/audit/actions', { path: { org } });
  return (
    <Page
      title="Audit log"
      within={org}
      lead="Who changed what, and when. Entries cannot be changed without it showing."
      isStale={log.isStale}
      actions={<VerifyButton org={org} />}
    >
      <Show of={log} whyNot={question('can_view_audit_log', 'see the audit log')}>
        {(entries) => <AuditLog filters={filters} log={log} entries={entries} actions={actions.data} />}
      </Show>
    </Page>
  );
}

function VerifyButton({ org }: { org: string }) {
  const result = useSignal<string | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isRunning = useSignal(false);
  async function verify(): Promise<void> {
    isRunning.value = true;
    error.value = undefined;
    try {
      const { ok, rows, first_broken_id: broken } = await api.call('GET /orgs/{org}/audit/verify', { path: { org } });
      result.value = ok ? `All ${rows} entries are intact.` : `Entry ${broken} does not follow from the one before it.`;
    } catch (fault) {
      error.value = fault;
    } finally {
      isRunning.value = false;
    }
  }
  return (
    <>
      <span role="status">{result.value}</span>
      <Fault error={error.value} />
      <Button isBusy={isRunning.value} busyLabel="Checking" onClick={() => void verify()}>
        Check the log
      </Button>
    </>
  );
}
