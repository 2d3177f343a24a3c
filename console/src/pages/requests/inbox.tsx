import { useList } from '../../data/resource.ts';
import { Card } from '../../parts/bits.tsx';
import { Empty, Page, Show } from '../../parts/page.tsx';
import { RequestTable } from './request-table.tsx';

const PAGE = 50;

/** What the user can decide, and what they have asked for, in all organizations. */
export function InboxPage() {
  const toDecide = useList('GET /user/requests', { query: { for_me: true, limit: PAGE } });
  const own = useList('GET /user/requests', { query: { limit: PAGE } });
  return (
    <Page
      title="Access requests"
      lead="In all of your organizations: what other users ask of you, and what you have asked for."
      isStale={toDecide.isStale || own.isStale}
    >
      <Card title="For you to decide">
        <Show of={toDecide}>
          {(all) =>
            all.length === 0 ? (
              <p class="quiet">Nothing waits for you.</p>
            ) : (
              <RequestTable caption="Requests for you to decide" of={toDecide} rows={all} hasOrganization />
            )
          }
        </Show>
      </Card>
      <Card title="Your requests">
        <Show of={own}>
          {(all) =>
            all.length === 0 ? (
              <Empty
                text="You have not asked for anything. Where an answer is no, the page offers to ask for access if you may request it."
                command="atrium request RELATION OBJECT --for 4h --because TEXT"
              />
            ) : (
              <RequestTable caption="Your requests" of={own} rows={all} hasOrganization />
            )
          }
        </Show>
      </Card>
    </Page>
  );
}
