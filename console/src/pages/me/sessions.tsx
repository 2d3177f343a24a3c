import { useSignal } from '@preact/signals';
import { api } from '../../data/api.ts';
import { useList } from '../../data/resource.ts';
import { browserIn } from '../../parts/browser-name.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Show } from '../../parts/page.tsx';
import { type Session, SessionTable } from '../../parts/session-table.tsx';
import { MePage } from './me-page.tsx';

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
          <SessionTable
            sessions={all}
            total={sessions.total}
            hasMore={sessions.hasMore}
            onMore={sessions.loadMore}
            onEnd={(session) => (ended.value = session)}
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
