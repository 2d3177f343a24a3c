import type { Item } from '../../../client/client.ts';
import { Chip } from './bits.tsx';
import { browserIn } from './browser-name.ts';
import { Button } from './button.tsx';
import { Table } from './table.tsx';
import { When } from './when.tsx';

export type Session = Item<'GET /user/sessions'>;

interface SessionTableProps {
  readonly sessions: readonly Session[];
  readonly total?: number | undefined;
  readonly hasMore?: boolean | undefined;
  readonly onMore?: (() => void) | undefined;
  /** Ends one session. Without it, they can only be ended together. */
  readonly onEnd?: ((session: Session) => void) | undefined;
}

/** Where a user is signed in. */
export function SessionTable({ sessions, total, hasMore, onMore, onEnd }: SessionTableProps) {
  return (
    <Table
      caption="Sessions"
      rows={sessions}
      keyOf={(session) => String(session.id)}
      total={total}
      hasMore={hasMore}
      onMore={onMore}
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
        {
          key: 'seen',
          title: 'Last seen',
          cell: (session) => (session.current ? <span>now</span> : <When at={session.last_seen_at} />),
        },
        { key: 'created', title: 'Signed in', cell: (session) => <When at={session.created_at} />, isMinor: true },
        { key: 'expires', title: 'Expires', cell: (session) => <When at={session.expires_at} />, isMinor: true },
        ...(onEnd === undefined
          ? []
          : [
              {
                key: 'end',
                title: '',
                isNumber: true,
                cell: (session: Session) => (
                  <Button
                    label={`End the session of ${browserIn(session.user_agent)}`}
                    disabledBecause={session.current ? 'To end this session, sign out.' : undefined}
                    onClick={() => onEnd(session)}
                  >
                    End
                  </Button>
                ),
              },
            ]),
      ]}
    />
  );
}
