import { useSignal } from '@preact/signals';
import { useSettled } from '../data/filters.ts';
import { orgPath } from '../data/org.ts';
import { useList, useResource } from '../data/resource.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { useCurrentOrg } from './current-org.ts';

const MAX_TEXT = 64;

/** The organizations of the user, to go to one of them. */
export function OrgSwitcher({ onClose }: { onClose: () => void }) {
  const current = useCurrentOrg();
  const text = useSignal('');
  const wanted = useSettled(text.value).trim();
  const orgs = useList('GET /orgs', { query: { limit: 50 } });
  const found = useResource(wanted === '' ? undefined : 'GET /search', {
    query: { q: wanted.slice(0, MAX_TEXT), types: 'organizations' },
  });
  const shown =
    wanted === ''
      ? orgs.data?.map(({ name, full_name: title }) => ({ name, title }))
      : found.data?.organizations.map(({ name, title }) => ({ name, title }));
  return (
    <Dialog title="Organizations" onClose={onClose}>
      <div class="stack org-switcher">
        <TextField label="Search organizations" type="search" value={text} />
        {shown?.length === 0 && (
          <p class="quiet" role="status">
            {text.value === '' ? 'You are in no organization yet.' : 'No organization matches.'}
          </p>
        )}
        <ul>
          {(shown ?? []).map(({ name, title }) => (
            <li key={name}>
              <a href={orgPath(name)} aria-current={name === current ? 'true' : undefined} onClick={onClose}>
                <bdi class="strong">{name}</bdi>
                {title !== undefined && title !== name && <bdi class="quiet cut">{title}</bdi>}
              </a>
            </li>
          ))}
        </ul>
        <div class="line">
          {wanted === '' && orgs.hasMore && <Button onClick={orgs.loadMore}>Load more</Button>}
          <a class="button plain" href="/orgs/new" onClick={onClose}>
            New organization
          </a>
          <a href="/orgs" onClick={onClose}>
            All organizations
          </a>
        </div>
      </div>
    </Dialog>
  );
}
