import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { Chip } from '../../parts/bits.tsx';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { browserIn } from './browser-name.ts';
import { MePage } from './me-page.tsx';

type Session = Item<'GET /user/sessions'>;

export function SessionsPage() {
  const sessions = useList('GET /user/sessions', { query: { limit: 50 } });
  const isEndingAll = useSignal(false);
  const ended = useSignal<Session | undefined>(undefined);
  return (
    <MePage
      title="Sessions"
      lead="The browsers that you are signed in with. If you do not recognize one, end it and change your password."
      isStale={sessions.isStale}
      actions={
        <Button
          disabledBecause={sessions.total === 1 ? 'There is no other session.' : undefined}
          onClick={() => (isEndingAll.value = true)}
        >
          End all others
        </Button>
      }
    >
      <Show of={sessions}>
        {(all) => (
          <Table
            caption="Sessions"
            rows={all}
            keyOf={(session) => String(session.id)}
            total={sessions.total}
            hasMore={sessions.hasMore}
            onMore={sessions.loadMore}
            columns={[
              {
                key: 'browser',
                title: 'Browser',
                cell: (session) => (
                  <span class="line">
                    <span class="strong" title={session.user_agent}>
                      {browserIn(session.user_agent)}
                    </span>
                    {session.current && <Chip tone="ok">this one</Chip>}
                  </span>
                ),
              },
              { key: 'ip', title: 'Address', cell: (session) => <code>{session.ip || 'unknown'}</code>, isMinor: true },
              { key: 'seen', title: 'Last seen', cell: (session) => <LastSeen session={session} /> },
              {
                key: 'created',
                title: 'Signed in',
                cell: (session) => <When at={session.created_at} />,
                isMinor: true,
              },
              { key: 'expires', title: 'Expires', cell: (session) => <When at={session.expires_at} />, isMinor: true },
              {
                key: 'end',
                title: '',
                isNumber: true,
                cell: (session) => (
                  <Button
                    label={`End the session of ${browserIn(session.user_agent)}`}
                    disabledBecause={session.current ? 'To end this session, sign out.' : undefined}
                    onClick={() => (ended.value = session)}
                  >
                    End
                  </Button>
                ),
              },
            ]}
          />
        )}
      </Show>
      {ended.value && (
        <Confirm
          title="End this session?"
          verb="End session"
          done="The session was ended."
          change={() => api.call('DELETE /user/sessions/{id}', { path: { id: ended.value?.id ?? 0n } })}
          onClose={() => (ended.value = undefined)}
        >
          <p>
            {browserIn(ended.value.user_agent)} at {ended.value.ip || 'an unknown address'} is signed out with its next
            request.
          </p>
        </Confirm>
      )}
      {isEndingAll.value && (
        <Confirm
          title="End all other sessions?"
          verb="End all others"
          done="All other sessions were ended."
          change={() => api.call('DELETE /user/sessions')}
          onClose={() => (isEndingAll.value = false)}
        >
          <p>Every browser but this one is signed out with its next request. Access tokens stay valid.</p>
        </Confirm>
      )}
    </MePage>
  );
}

function LastSeen({ session }: { session: Session }) {
  return session.current ? <span>now</span> : <When at={session.last_seen_at} />;
}
