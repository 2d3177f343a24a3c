import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';

type Provider = Answer<'GET /user/providers'>[number];

/** One button for each provider. They leave the page, and the provider sends the browser back to it. */
export function ProviderButtons({ remember }: { remember: boolean }) {
  const providers = useSignal<readonly Provider[]>([]);
  useEffect(() => {
    // Without an answer, there is still the other way to sign in.
    api.call('GET /user/providers').then(
      (all) => (providers.value = all),
      () => undefined,
    );
  }, []);
  if (providers.value.length === 0) return null;
  return (
    <div class="stack tight" role="group" aria-label="Sign in with a provider">
      {providers.value.map(({ name, display_name, url }) => (
        // The router of the console follows links without a target, and this one leaves the console.
        <a
          key={name}
          class="button plain"
          target="_top"
          href={`${url}?${new URLSearchParams({ return_to: here(), remember: String(remember) })}`}
        >
          {`Sign in with ${display_name}`}
        </a>
      ))}
    </div>
  );
}

/** The page that was asked for. The sign-in page itself is none. */
function here(): string {
  const { pathname, search } = location;
  return pathname.startsWith('/signin') ? '/' : `${pathname}${search}`;
}
