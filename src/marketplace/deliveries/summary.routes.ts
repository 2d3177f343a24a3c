import Type from 'typebox';
import { siteAdmin } from '../../http/admission/access.ts';
import type { Scope } from '../../http/server.ts';
import { named, timestamp } from '../../http/wire/schemas.ts';
import { EVENT_STATES } from '../../outbox/outbox.ts';
import { INSTALLER_STATES } from '../installers/installers.ts';
import { MarketplaceText, OrNull } from '../marketplace.view.ts';
import { SUBSCRIPTION_STATES } from '../subscriptions/lifecycle.ts';
import { DELIVERY_STATES } from './deliveries.ts';
import type { GetSummary } from './summary.ts';

const counts = <State extends string>(states: readonly State[]) =>
  Type.Object(
    Object.fromEntries(states.map((state) => [state, Type.Integer()])) as Record<
      State,
      ReturnType<typeof Type.Integer>
    >,
  );
const moment = (description: string) => OrNull<string>('string', { format: 'date-time', description });

const Summary = named(
  'MarketplaceSummary',
  Type.Object({
    deliveries: counts(DELIVERY_STATES),
    oldest_waiting_at: moment('When the oldest delivery arrived that is not finished. Null if there is none.'),
    installers: counts(INSTALLER_STATES),
    subscriptions: counts(SUBSCRIPTION_STATES),
    events: counts(EVENT_STATES),
    oldest_event_at: moment('When the oldest event was made that is not sent yet. Null if there is none.'),
    marketplaces: Type.Array(
      Type.Object({
        marketplace: MarketplaceText,
        proven_by: Type.String({ enum: ['address', 'secret'] }),
        secrets: Type.Integer({ description: 'How many secrets are live.' }),
        last_delivery_at: moment('When it last sent a delivery that was kept. Null if it never did.'),
      }),
    ),
    ranges_age_seconds: OrNull<number>('integer', {
      description: 'How long ago the list of address ranges was confirmed. Null if there is none.',
    }),
  }),
);

/** The listener at a glance, for site administrators. */
export function summaryRoutes(scope: Scope, getSummary: GetSummary): void {
  scope.get(
    '/admin/marketplace/summary',
    {
      config: { access: siteAdmin('admin') },
      schema: {
        summary: 'Count deliveries, installers, subscriptions and events by state',
        tags: ['marketplace'],
        extension: true,
        response: { 200: Summary },
      },
    },
    async () => {
      const found = await getSummary(new Date());
      return {
        deliveries: found.deliveries,
        oldest_waiting_at: found.oldestDelivery && timestamp(found.oldestDelivery),
        installers: found.installers,
        subscriptions: found.subscriptions,
        events: found.events,
        oldest_event_at: found.oldestEvent && timestamp(found.oldestEvent),
        marketplaces: found.marketplaces.map(({ marketplace, provenBy, secrets, lastDelivery }) => ({
          ...{ marketplace, proven_by: provenBy, secrets },
          last_delivery_at: lastDelivery && timestamp(lastDelivery),
        })),
        ranges_age_seconds: found.rangesAge === undefined ? null : Math.floor(found.rangesAge),
      };
    },
  );
}
