import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { api } from '../../data/api.ts';
import { rememberProvider } from '../../data/last-provider.ts';
import { returnPath } from '../../data/return-path.ts';
import { me, signedInAs } from '../../data/session.ts';

type Provider = Answer<'GET /user/providers'>[number];

interface ProviderButtonsProps {
  readonly remember: boolean;
  /** Left out: with this one, a user has signed in just now. */
  readonly except?: string | undefined;
  /** The code of an invitation: its address gets an account, also if the provider creates none. */
  readonly invitation?: string | undefined;
}

/**
 * One button for each provider. They leave the page, and the provider sends the browser back to it. Over a page with
 * something on it, they open a window instead.
 */
export function ProviderButtons({ remember, except, invitation }: ProviderButtonsProps) {
  const providers = useSignal<readonly Provider[]>([]);
  useEffect(() => {
    // Without an answer, there is still the other way to sign in.
    api.call('GET /user/providers').then(
      (all) => (providers.value = all),
      () => undefined,
    );
  }, []);
  const shown = providers.value.filter(({ name }) => name !== except);
  if (shown.length === 0) return null;
  return (
    <div class="stack tight" role="group" aria-label="Sign in with a provider">
      {shown.map((provider) => (
        <ProviderButton key={provider.name} provider={provider} isRemembered={remember} invitation={invitation} />
      ))}
    </div>
  );
}

interface ProviderButtonProps {
  readonly provider: Provider;
  readonly isRemembered: boolean;
  readonly invitation: string | undefined;
}

function ProviderButton({ provider, isRemembered, invitation }: ProviderButtonProps) {
  const { name, display_name, url, remember: mayRemember } = provider;
  const remember = isRemembered && mayRemember;
  const href = `${url}?${new URLSearchParams({
    return_to: here(),
    remember: String(remember),
    ...(invitation !== undefined && { invitation }),
  })}`;
  function begin(event: Event): void {
    rememberProvider(name, remember);
    if (me.value === undefined || location.pathname.startsWith('/signin')) return;
    event.preventDefault();
    void inWindow();
  }
  async function inWindow(): Promise<void> {
    const { openSignInWindow } = await import('../../data/sign-in-window.ts');
    const isOpen = openSignInWindow(name, { remember: String(remember) }, () => {
      api.call('GET /user').then(signedInAs, () => undefined);
    });
    if (!isOpen) location.assign(href);
  }
  return (
    <>
      {/* The router of the console follows links without a target, and this one leaves the console. */}
      <a class="button plain" target="_top" href={href} onClick={begin}>
        {`Sign in with ${display_name}`}
      </a>
      {isRemembered && !mayRemember && <p class="quiet small">{`${display_name} does not keep you signed in.`}</p>}
    </>
  );
}

/** The page that was asked for. The sign-in page itself is none, but it may know one. */
function here(): string {
  const { pathname, search } = location;
  if (pathname === '/signin/link') return pathname;
  return pathname.startsWith('/signin') ? returnPath(search) : `${pathname}${search}`;
}
