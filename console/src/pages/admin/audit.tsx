import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { orgPath } from '../../data/org.ts';
import { together, useList, useResource } from '../../data/resource.ts';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { AuditLog, useAuditFilters } from '../audit/audit-log.tsx';
import { AdminOnly } from './admin-only.tsx';

export function AdminAuditPage() {
  return (
    <AdminOnly title="Audit log">
      <WholeLog />
    </AdminOnly>
  );
}

/** The API calls the deployment itself 0: people, settings and everything else outside of organizations. */
const DEPLOYMENT = { value: '0', label: 'The deployment itself' };
const MAX_CHOICES = 50;

function WholeLog() {
  const filters = useAuditFilters({ org: '' });
  const { org } = filters.fields;
  const query = { ...filters.query, org: unlessEmpty(useSettled(org.value)) };
  const log = useKept(useList('GET /admin/audit', { query }), '');
  const orgs = useResource('GET /admin/orgs', { query: { limit: MAX_CHOICES } });
  const actions = useKept(useResource('GET /admin/audit/actions', { query: { org: query.org } }), '');
  const names = new Map(orgs.data?.map(({ id, name }) => [id, name]));
  const chosen = orgs.data?.some(({ name }) => name === org.value) || org.value === '' || org.value === '0';
  return (
    <Page
      title="Audit log"
      within="Administration"
      lead="Everything that was changed in this deployment. Entries cannot be changed without it showing."
      isStale={log.isStale}
    >
      <Show of={together(log, orgs, actions)}>
        {(entries) => (
          <AuditLog
            filters={filters}
            log={log}
            entries={entries}
            actions={actions.data}
            moreFilters={
              (orgs.total ?? 0) > MAX_CHOICES || !chosen ? (
                <TextField label="Organization" value={org} placeholder="acme, or 0 for the deployment" />
              ) : (
                <SelectField
                  label="Organization"
                  value={org}
                  choices={[
                    { value: '', label: 'All' },
                    DEPLOYMENT,
                    ...(orgs.data ?? []).map(({ name }) => ({ value: name, label: name })),
                  ]}
                />
              )
            }
            moreColumns={[
              {
                key: 'org',
                title: 'Organization',
                isMinor: true,
                cell: ({ organization_id: id }) => <Organization id={id} name={names.get(id)} />,
              },
            ]}
          />
        )}
      </Show>
    </Page>
  );
}

function Organization({ id, name }: { id: bigint; name: string | undefined }) {
  if (id === 0n) return <span class="quiet">deployment</span>;
  // What belongs to a subscription has a log under its negative ID.
  if (id < 0n) return <a href={`/admin/subscriptions/${-id}`}>{`subscription ${-id}`}</a>;
  // What a person owns, or an organization that was deleted.
  if (name === undefined) return <span class="quiet">{`account ${id}`}</span>;
  return (
    <a href={orgPath(name, '/audit')}>
      <bdi>{name}</bdi>
    </a>
  );
}
