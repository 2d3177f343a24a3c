import { Counter, Gauge } from 'prom-client';
import type { Judge } from '../authz/judge.ts';
import type { Scope } from '../http/server.ts';
import type { Identity } from '../identity/identity.wiring.ts';
import type { Infrastructure } from '../infrastructure.ts';
import { createEventCursors } from './event-cursor.ts';
import { createListenerFactory } from './event-listener.ts';
import { eventRoutes } from './events.routes.ts';
import { createEventStore } from './events.store.ts';
import { createEvents } from './events.ts';
import { createVisibleChanges, type VisibleRequests } from './visible-changes.ts';

export function wireEvents(
  { db, revisions, keys, config, metrics, log }: Infrastructure,
  identity: Identity,
  judge: Judge,
  visibleRequests: VisibleRequests,
) {
  const registers = [metrics.registry];
  const slow = new Counter({
    name: 'atrium_event_streams_cut_total',
    help: 'Event streams that were cut because the client did not read them.',
    registers,
  });
  const store = createEventStore(db);
  const onError = (error: unknown) => log.warn({ err: error }, 'events cannot be sent; streams are ended');
  const createListener = createListenerFactory({
    ...{ store, revisions, onError },
    visible: createVisibleChanges(judge, visibleRequests),
    cursors: createEventCursors(keys.derive('events')),
    onSlow: () => slow.inc(),
  });
  const events = createEvents({ revisions, store, createListener, maxListeners: config.EVENT_STREAMS, onError });
  new Gauge({
    name: 'atrium_event_streams',
    help: 'Event streams that are open.',
    registers,
    collect() {
      this.set(events.count());
    },
  });
  return {
    mount: (scope: Scope) => eventRoutes(scope, events, identity.callers.organizationNamed),
    events,
  };
}
