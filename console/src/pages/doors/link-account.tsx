import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Answer } from '../../../../client/client.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { isSignedOut, me, signedInAs } from '../../data/session.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Loading } from '../../parts/page.tsx';
import { Door } from './sign-in.tsx';
import { SignInForm } from './sign-in-form.tsx';

type Request = Answer<'GET /user/link_request'>;

/** A person has signed in with a provider for the first time, and an account here has the same address. */
export function LinkAccountPage() {
  const request = useSignal<Request | undefined>(undefined);
  const failed = useSignal<unknown>(undefined);
  useEffect(() => {
    api.call('GET /user/link_request').then(
      (found) => (request.value = found),
      (error: unknown) => (failed.value = error),
    );
    if (!isSignedOut.value) api.call('GET /user').then(signedInAs, () => undefined);
  }, []);
  return (
    <Door title="Link your account" lead="You have signed in with a provider for the first time.">
      {failed.value !== undefined && (
        <>
          <Fault error={failed.value} />
          <LinkButton href="/signin">Back to sign-in</LinkButton>
        </>
      )}
      {request.value === undefined ? (
        failed.value === undefined && <Loading rows={2} />
      ) : (
        <Ask request={request.value} />
      )}
    </Door>
  );
}

function Ask({
  request: { provider, provider_display_name: company, email, username, return_to },
}: {
  request: Request;
}) {
  const link = useAction(async () => {
    await api.call('POST /user/link_request');
    location.assign(return_to);
  });
  const isOwner = me.value?.login === username;
  return (
    <div class="stack">
      <h2>
        Link to the account <bdi>{username}</bdi>?
      </h2>
      <p>
        {`${company} says that ${email} is yours. The account `}
        <bdi class="strong">{username}</bdi>
        {` has that address. Once they are linked, you can sign in to it with ${company}.`}
      </p>
      {isOwner ? (
        <>
          <Fault error={link.error} />
          <div class="line">
            <Button kind="main" isBusy={link.isRunning} onClick={() => void link.run()}>
              Link account
            </Button>
            <LinkButton href="/">Not now</LinkButton>
          </div>
        </>
      ) : (
        <>
          <p>Sign in to that account first, to show that it is yours.</p>
          <SignInForm username={username} exceptProvider={provider} hasTokens={false} />
          <p class="quiet">
            {`If you have no way to sign in to it, ask a site administrator: they can let your next sign-in with ${company} be linked without this question.`}
          </p>
        </>
      )}
    </div>
  );
}
