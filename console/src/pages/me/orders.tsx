import { useSignal } from '@preact/signals';
import type { Item } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { useList, useResource } from '../../data/resource.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { CodeBlock, Copy } from '../../parts/copy.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Empty, Show } from '../../parts/page.tsx';
import { Table } from '../../parts/table.tsx';
import { When } from '../../parts/when.tsx';
import { MePage } from './me-page.tsx';

type Order = Item<'GET /user/deploy/orders'>['metadata'];

export function OrdersPage() {
  const orders = useList('GET /user/deploy/orders', { query: { limit: 50 } });
  const shown = useSignal<Order | undefined>(undefined);
  const removed = useSignal<Order | undefined>(undefined);
  return (
    <MePage
      title="Deploy orders"
      lead="Charts with their values, ready to be rendered as manifests for Flux."
      isStale={orders.isStale}
    >
      <Show of={orders}>
        {(all) =>
          all.length === 0 ? (
            <Empty
              text="You have no orders. Installers and programs that act for you create them, and so does the command line."
              command="atrium order create --file order.yaml"
            />
          ) : (
            <Table
              caption="Deploy orders"
              rows={all.map(({ metadata }) => metadata)}
              keyOf={(order) => order.uid}
              total={orders.total}
              hasMore={orders.hasMore}
              onMore={orders.loadMore}
              onOpen={(order) => (shown.value = order)}
              columns={[
                { key: 'name', title: 'Name', cell: (order) => <bdi>{order.name}</bdi> },
                {
                  key: 'uid',
                  title: 'ID',
                  cell: (order) => <Copy text={order.uid} label="Copy the ID" />,
                  isMinor: true,
                },
                { key: 'created', title: 'Created', cell: (order) => <When at={order.creationTimestamp} /> },
                {
                  key: 'actions',
                  title: '',
                  isNumber: true,
                  cell: (order) => (
                    <Button label={`Delete ${order.name}`} onClick={() => (removed.value = order)}>
                      Delete
                    </Button>
                  ),
                },
              ]}
            />
          )
        }
      </Show>
      {shown.value && <Manifests order={shown.value} onClose={() => (shown.value = undefined)} />}
      {removed.value && (
        <Confirm
          title={`Delete the order ${removed.value.name}?`}
          verb="Delete order"
          done={`The order ${removed.value.name} was deleted.`}
          change={() => api.call('DELETE /user/deploy/orders/{id}', { path: { id: removed.value?.uid ?? '' } })}
          onClose={() => (removed.value = undefined)}
        >
          <p>What was deployed with it keeps running. This cannot be undone.</p>
        </Confirm>
      )}
    </MePage>
  );
}

function Manifests({ order, onClose }: { order: Order; onClose: () => void }) {
  const manifest = useResource('GET /user/deploy/orders/{id}/render/manifest', { path: { id: order.uid } });
  return (
    <Dialog title={`Manifests of ${order.name}`} onClose={onClose} size="wide">
      <Show of={manifest}>{(text) => <CodeBlock text={String(text)} label="Copy the manifests" />}</Show>
    </Dialog>
  );
}
