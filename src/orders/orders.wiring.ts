import type { Scope } from '../http/server.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { orderRoutes } from './orders.routes.ts';
import { createOrderStore } from './orders.store.ts';
import { createOrders } from './orders.ts';

export function wireOrders({ db, room }: Infrastructure) {
  const orders = createOrders(createOrderStore(db, room));
  return { mount: (scope: Scope) => orderRoutes(scope, orders) };
}
