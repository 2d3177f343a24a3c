import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { lazy } from 'preact-iso';
import { pageData } from '../../data/page-data.ts';

/** A signed-in user does not need it. */
export const SignInForm = lazy(async () => ({ default: (await import('./sign-in-form.tsx')).SignInForm }));

export function SignInPage() {
  return (
    <Door title="Sign in" lead="Who may do what, and why.">
      <SignInForm secondStep={new URLSearchParams(location.search).get('methods')?.split(',')} />
    </Door>
  );
}

/** The frame of the pages that need no session yet. */
export function Door(props: { title: string; lead: string; isWide?: boolean; children: ComponentChildren }) {
  const { title, lead, isWide, children } = props;
  useEffect(() => {
    document.title = `${title} · Atrium`;
  }, [title]);
  return (
    <main class="door">
      <div class={`door-card ${isWide ? 'door-wide' : ''}`}>
        <header>
          <h1 class="wordmark">Atrium</h1>
          <p class="quiet">{lead}</p>
        </header>
        {children}
        <p class="quiet small">
          <a href="/api/v1/docs">API documentation</a> {pageData.version}
        </p>
      </div>
    </main>
  );
}
