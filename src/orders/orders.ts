import { randomUUID } from 'node:crypto';
import { AppError } from '../base/errors.ts';
import type { Page, PageRequest } from '../base/page.ts';
import { type Once, onceFor } from '../changes/write.ts';
import type { Chart } from './charts.ts';
import { limitValues } from './order-budget.ts';
import { renderManifests } from './rendering.ts';

export interface Order {
  readonly uid: string;
  readonly name: string;
  readonly charts: readonly Chart[];
  /** The specification as it was sent, including unknown fields. */
  readonly spec: object;
  readonly createdAt: Date;
}

/** What is known about an order without reading its charts. */
export type OrderCard = Pick<Order, 'uid' | 'name' | 'createdAt'>;

export interface OrderStore {
  /** Newest first. */
  list(ownerId: bigint, page: PageRequest): Promise<Page<OrderCard>>;
  create(ownerId: bigint, order: Omit<Order, 'createdAt' | 'charts'>, once?: Once<Date>): Promise<Date>;
  /** Undefined for another owner's order. */
  get(ownerId: bigint, uid: string): Promise<Omit<Order, 'charts'> | undefined>;
  /** False for another owner's order. */
  remove(ownerId: bigint, uid: string): Promise<boolean>;
}

export type Orders = ReturnType<typeof createOrders>;

const MAX_CHARTS = 100;
const UID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** What a user wants deployed: charts with their values. Stored, and rendered on demand. */
export function createOrders(store: OrderStore) {
  return { list: store.list, create, get, remove };

  async function create(ownerId: bigint, spec: OrderSpec, once?: Once<Order>): Promise<Order> {
    const charts = chartsOf(spec);
    if (charts.length === 0) throw new AppError('invalid', 'the order has no items');
    if (charts.length > MAX_CHARTS) throw new AppError('invalid', `an order has at most ${MAX_CHARTS} items`);
    // An order that cannot be rendered is rejected when it is created, not when it is needed.
    limitValues(spec);
    renderManifests(charts);
    const draft = { uid: randomUUID(), name: charts[0]?.releaseName ?? '', spec };
    const orderOf = (createdAt: Date): Order => ({ ...draft, charts, createdAt });
    return orderOf(await store.create(ownerId, draft, onceFor(once, orderOf)));
  }

  async function get(ownerId: bigint, uid: string): Promise<Order> {
    const found = UID.test(uid) ? await store.get(ownerId, uid.toLowerCase()) : undefined;
    if (!found) throw orderNotFound();
    return { ...found, charts: chartsOf(found.spec as OrderSpec) };
  }

  async function remove(ownerId: bigint, uid: string): Promise<void> {
    if (!UID.test(uid) || !(await store.remove(ownerId, uid.toLowerCase()))) throw orderNotFound();
  }
}

export interface OrderSpec {
  readonly items: readonly { readonly chart: Chart }[];
}

function chartsOf(spec: OrderSpec): Chart[] {
  return spec.items.map(({ chart }) => chart);
}

function orderNotFound(): AppError {
  return new AppError('notFound', 'order not found', { reason: 'order_not_found' });
}
