import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { ErrorBoundary, LocationProvider, lazy, Route, Router, useLocation } from 'preact-iso';
import { noteRevision, useLiveData } from '../data/events.ts';
import { placeOf } from '../data/org.ts';
import { isEnrollmentNeeded, isProofNeeded } from '../data/proof.ts';
import { preload } from '../data/resource.ts';
import { isSignedOut, isSignInNeeded, me, signedInAs } from '../data/session.ts';
import { stopViewing, viewing } from '../data/view-as.ts';
import { Door, SignInForm, SignInPage } from '../pages/doors/sign-in.tsx';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Fault } from '../parts/fault.tsx';
import { Loading, Page } from '../parts/page.tsx';
import { Toasts } from '../parts/toast.tsx';
import { isPageBroken, untilLoaded } from './broken-page.ts';
import {
  ForgotPasswordPage,
  InvitationPage,
  LinkAccountPage,
  PAGES,
  preloadArea,
  ResetPasswordPage,
  SignInDonePage,
  SignUpPage,
  WelcomePage,
} from './pages.ts';
import { Shell } from './shell.tsx';

const RETRY_MS = 5000;
const BROKEN = 'This page could not be loaded';
const OUTSIDE: Readonly<Record<string, ComponentType>> = {
  '/welcome': WelcomePage,
  '/signin/done': SignInDonePage,
  '/signin/forgot': ForgotPasswordPage,
  '/signin/reset': ResetPasswordPage,
  '/signin/signup': SignUpPage,
  '/signin/link': LinkAccountPage,
};
const Prove = lazy(async () => ({ default: (await import('../pages/factors/prove.tsx')).Prove }));
const loadEnroll = async () => (await import('../pages/doors/enroll.tsx')).EnrollPage;
const EnrollPage = lazy(async () => ({ default: await loadEnroll().catch(() => untilLoaded(loadEnroll)) }));

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

/** Some pages open a session themselves. Everything else needs one. */
function Doors() {
  const { path } = useLocation();
  const isInvitation = /^\/invitations\/[^/]+\/?$/.test(path);
  const Outside = isInvitation ? InvitationPage : OUTSIDE[path];
  if (Outside === undefined || (isInvitation && isEnrollmentNeeded.value)) return <Inside />;
  return (
    <>
      <Outside />
      {isPageBroken.value && (
        <Door title={BROKEN} lead={BROKEN}>
          <BrokenNotice />
        </Door>
      )}
      {isProofNeeded.value && <Prove />}
    </>
  );
}

function BrokenNotice() {
  return (
    <>
      <p>
        The server cannot be reached, or it was updated. What you saved is not lost. The page loads as soon as the
        server answers.
      </p>
      <div>
        <Button kind="main" onClick={() => location.reload()}>
          Reload
        </Button>
      </div>
    </>
  );
}

/** Everything that needs a session. */
function Inside() {
  const failed = useSignal<unknown>(undefined);
  const askWho = () => {
    if (isSignedOut.value || me.value !== undefined) return;
    preload('GET /user/context', placeOf(location.pathname)).then(
      ({ user, revision }) => {
        noteRevision(revision);
        signedInAs(user);
      },
      (error: unknown) => {
        if (isSignedOut.value || isEnrollmentNeeded.value) return;
        failed.value = error;
        setTimeout(askWho, RETRY_MS);
      },
    );
  };
  useEffect(() => {
    askWho();
    preloadArea(location.pathname);
  }, []);
  useLiveData();
  if (isSignedOut.value) return <SignInPage />;
  if (isEnrollmentNeeded.value) {
    return (
      <>
        <EnrollPage />
        {isPageBroken.value && (
          <Door title={BROKEN} lead={BROKEN}>
            <BrokenNotice />
          </Door>
        )}
        {isProofNeeded.value && <Prove />}
      </>
    );
  }
  if (me.value === undefined) {
    return failed.value === undefined ? (
      <Loading rows={0} />
    ) : (
      <Door title="Not available" lead="Who may do what, and why.">
        <Fault error={failed.value} onRetry={askWho} />
        {viewing.value && <Button onClick={stopViewing}>Stop viewing as {viewing.value.name}</Button>}
      </Door>
    );
  }
  return (
    <Shell>
      <ErrorBoundary>
        <Router>
          {PAGES.map(({ path, key, page }) => (
            <Route key={key} path={path} component={page} />
          ))}
        </Router>
        {isPageBroken.value && (
          <Page title={BROKEN}>
            <BrokenNotice />
          </Page>
        )}
      </ErrorBoundary>
      {isProofNeeded.value && <Prove />}
      {isSignInNeeded.value && (
        <Dialog title="Your session has ended" isRequired onClose={() => undefined}>
          <p>Sign in again to go on. Nothing that you typed is lost.</p>
          <SignInForm username={me.value.login} />
        </Dialog>
      )}
    </Shell>
  );
}
