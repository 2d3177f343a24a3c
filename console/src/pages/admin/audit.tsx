import { unlessEmpty, useKept, useSettled } from '../../data/filters.ts';
import { orgPath } from '../../data/org.ts';
import { together, useList, useResource } from '../../data/resource.ts';
import type { AuditEntry } from '../../parts/entries.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Page, Show } from '../../parts/page.tsx';
import { exportPath, useAuditFilters } from '../audit/audit-filters.tsx';
import { AuditLog } from '../audit/audit-log.tsx';
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
  const asked = { ...filters.asked, org: unlessEmpty(useSettled(org.value)) };
  const query = { ...filters.query, org: asked.org };
  const log = useKept(useList('GET /admin/audit', { query }), '');
  const orgs = useResource('GET /admin/orgs', { query: { limit: MAX_CHOICES } });
  const actions = useKept(useResource('GET /admin/audit/actions', { query: { org: query.org } }), '');
  const histogram = useKept(useResource('GET /admin/audit/histogram', { query: asked }), '');
  const names = new Map(orgs.data?.map(({ id, name }) => [id, name]));
  const chosen = orgs.data?.some(({ name }) => name === org.value) || org.value === '' || org.value === '0';
  return (
    <Page
      title="Audit log"
      within="Administration"
      lead="Everything that was changed in this deployment. Entries cannot be changed without it showing."
      isStale={log.isStale}
      actions={
        <a class="button plain" href={exportPath('/api/v1/admin/audit/export', asked)} download="audit.ndjson">
          {Object.values(asked).some(Boolean) ? 'Export what is shown' : 'Export'}
        </a>
      }
    >
      <Show of={together(log, orgs, actions, histogram)}>
        {(entries) => (
          <AuditLog
            filters={filters}
            log={log}
            entries={entries}
            actions={actions.data}
            histogram={histogram.data}
            about={org.value === DEPLOYMENT.value || !chosen ? '' : org.value}
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
                cell: (entry) => <Organization entry={entry} name={names.get(entry.organization_id)} />,
              },
            ]}
          />
        )}
      </Show>
    </Page>
  );
}

function isPerson({ type, id }: AuditEntry['object'], account: bigint): boolean {
  return type === 'user' && id === account;
}

function Organization({ entry, name }: { entry: AuditEntry; name: string | undefined }) {
  const { organization_id: id, object, actor } = entry;
  if (id === 0n) return <span class="quiet">deployment</span>;
  // What belongs to a subscription has a log under its negative ID.
  if (id < 0n) return <a href={`/admin/subscriptions/${-id}`}>{`subscription ${-id}`}</a>;
  // What a person owns: mostly the person did it, or it was done to the person.
  const person = actor.type !== 'robot_ac' && actor.id === id ? actor.name : isPerson(object, id) && object.name;
  if (name === undefined && person) return <bdi>{person}</bdi>;
  if (name === undefined) return <span class="quiet">{`a former organization or person (${id})`}</span>;
  return (
    <a href={orgPath(name, '/audit')}>
      <bdi>{name}</bdi>
    </a>
  );
}
