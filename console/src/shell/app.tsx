import { useEffect } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, Route, Router, useLocation } from 'preact-iso';
import { api } from '../data/api.ts';
import { isSignedOut, isSignInNeeded, me, signedInAs } from '../data/session.ts';
import { SignInPage } from '../pages/doors/sign-in.tsx';
import { SignInForm } from '../pages/doors/sign-in-form.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Loading } from '../parts/page.tsx';
import { Toasts } from '../parts/toast.tsx';
import { PAGES, WelcomePage } from './pages.ts';
import { Shell } from './shell.tsx';

export function App() {
  return (
    <LocationProvider>
      <ErrorBoundary>
        <Doors />
      </ErrorBoundary>
      <Toasts />
    </LocationProvider>
  );
}

/** The welcome page opens a session itself. Everything else needs one. */
function Doors() {
  return useLocation().path === '/welcome' ? <WelcomePage /> : <Inside />;
}

/** Everything that needs a session. */
function Inside() {
  useEffect(() => {
    if (!isSignedOut.value && me.value === undefined) {
      api.call('GET /user').then(signedInAs, () => undefined);
    }
  }, []);
  if (isSignedOut.value) return <SignInPage />;
  if (me.value === undefined) return <Loading rows={0} />;
  return (
    <Shell>
      <ErrorBoundary>
        <Router>
          {PAGES.map(({ path, page }) => (
            <Route key={path} path={path} component={page} />
          ))}
        </Router>
      </ErrorBoundary>
      {isSignInNeeded.value && (
        <Dialog title="Your session has ended" isRequired onClose={() => undefined}>
          <p>Sign in again to go on. Nothing that you typed is lost.</p>
          <SignInForm username={me.value.login} />
        </Dialog>
      )}
    </Shell>
  );
}
