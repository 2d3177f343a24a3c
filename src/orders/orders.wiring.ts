import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { orderRoutes } from './orders.routes.ts';
import { createOrderStore } from './orders.store.ts';
import { createOrders } from './orders.ts';

export function wireOrders({ db, revisions, quotas, baseUrl }: Infrastructure) {
  const orders = createOrders(createOrderStore(db, revisions.write, quotas));
  return { mount: (scope: Scope) => orderRoutes(scope, orders, baseUrl) };
}
