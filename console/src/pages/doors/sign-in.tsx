import { useEffect } from 'preact/hooks';
import { pageData } from '../../data/page-data.ts';
import { SignInForm } from './sign-in-form.tsx';

export function SignInPage() {
  useEffect(() => {
    document.title = 'Sign in · Atrium';
  }, []);
  return (
    <main class="door">
      <div class="door-card">
        <header>
          <h1 class="wordmark">Atrium</h1>
          <p class="quiet">Who may do what, and why.</p>
        </header>
        <SignInForm />
        <p class="quiet small">
          <a href="/api/v1/docs">API documentation</a> {pageData.version}
        </p>
      </div>
    </main>
  );
}
