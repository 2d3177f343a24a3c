import { useSignal } from '@preact/signals';
import { orgPath } from '../../data/org.ts';
import { useResource } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { type AuditEntry, Entries } from '../../parts/entries.tsx';
import { Show } from '../../parts/page.tsx';
import type { Member } from './member-data.ts';

const MAX_READ = 200;
const SHOWN = 8;

/** When a member joined and left teams, for users who ask; what they changed themselves is a link away. */
export function MemberRecord({ org, member }: { org: string; member: Member }) {
  const isOpen = useSignal(false);
  const log = useResource(isOpen.value ? 'GET /orgs/{org}/audit' : undefined, {
    path: { org },
    query: { object: 'team', limit: MAX_READ },
  });
  return (
    <Card
      title="Audit log"
      actions={
        <a href={orgPath(org, `/audit?${new URLSearchParams({ actor: member.login })}`)}>What {member.login} changed</a>
      }
    >
      {!isOpen.value && (
        <div>
          <Button onClick={() => (isOpen.value = true)}>Show when they joined and left teams</Button>
        </div>
      )}
      {isOpen.value && (
        <Show of={log} rows={2}>
          {({ items, next_cursor }) => (
            <Entries
              org={org}
              of={items.filter((entry) => isAbout(entry, member.login)).slice(0, SHOWN)}
              empty={
                next_cursor === null
                  ? 'No change of their teams is on record.'
                  : `None of the latest ${MAX_READ} changes of teams is about ${member.login}.`
              }
            />
          )}
        </Show>
      )}
    </Card>
  );
}

function isAbout({ before, after }: AuditEntry, login: string): boolean {
  return [before, after].some((state) => (state as { username?: unknown } | null)?.username === login);
}
