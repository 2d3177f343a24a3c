import { When } from '../../parts/when.tsx';
import { DELIVERY_STATES, type Summary, silentMarketplaces } from './marketplace-words.ts';
import '../admin/admin.css';

const ORDER = ['dead', 'received', 'refused', 'done'] as const;

/** How the deliveries are, at a glance. */
export function DeliverySummary({ summary }: { summary: Summary }) {
  const { deliveries, oldest_waiting_at: oldest, marketplaces } = summary;
  const silent = silentMarketplaces(summary);
  return (
    <div class="stack tight">
      <ul class="numbers">
        {ORDER.map((state) => (
          <li key={state}>
            <a
              href={`/admin/deliveries?show=${state}`}
              class={deliveries[state] > 0 ? DELIVERY_STATES[state]?.tone : ''}
            >
              <strong>{deliveries[state]}</strong>
              <span class="quiet">{DELIVERY_STATES[state]?.label}</span>
            </a>
          </li>
        ))}
      </ul>
      <p class="small quiet">
        {oldest !== null && (
          <>
            The oldest that waits arrived <When at={oldest} />.{' '}
          </>
        )}
        Last delivery:{' '}
        {marketplaces.map(({ marketplace, last_delivery_at: at }, index) => (
          <span key={marketplace}>
            {index > 0 && ', '}
            {marketplace} <When at={at} />
          </span>
        ))}
        .
      </p>
      {silent.map(({ marketplace, last_delivery_at: at }) => (
        <p key={marketplace} class="note warn">
          Nothing came from {marketplace} since <When at={at} />. Is the address of this server still registered there?
        </p>
      ))}
    </div>
  );
}
