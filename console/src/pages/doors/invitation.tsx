import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { Answer } from '../../../../client/client.ts';
import { ApiError } from '../../../../client/errors.ts';
import { useAction } from '../../data/action.ts';
import { api } from '../../data/api.ts';
import { orgPath } from '../../data/org.ts';
import { pageData } from '../../data/page-data.ts';
import { isSignedOut, me, signedInAs, signedOut } from '../../data/session.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Fault } from '../../parts/fault.tsx';
import { Loading } from '../../parts/page.tsx';
import { When } from '../../parts/when.tsx';
import { NewAccount } from './new-account.tsx';
import { ProviderButtons } from './provider-buttons.tsx';
import { Door } from './sign-in.tsx';
import { SignInForm } from './sign-in-form.tsx';

type Invitation = Answer<'GET /invitations/{code}'>;

/** The recipient of an invitation: signed in or not, with an account or not. */
export function InvitationPage() {
  const code = useLocation().path.split('/')[2] ?? '';
  const invitation = useSignal<Invitation | undefined>(undefined);
  const failed = useSignal<unknown>(undefined);
  useEffect(() => {
    api.call('GET /invitations/{code}', { path: { code } }).then(
      (found) => (invitation.value = found),
      (error: unknown) => (failed.value = error),
    );
    if (!isSignedOut.value && me.value === undefined) api.call('GET /user').then(signedInAs, () => undefined);
  }, []);
  return (
    <Door title="Invitation" lead="You have been invited.">
      {failed.value !== undefined && <Gone error={failed.value} />}
      {invitation.value === undefined ? (
        failed.value === undefined && <Loading rows={2} />
      ) : (
        <Invited code={code} invitation={invitation.value} />
      )}
    </Door>
  );
}

/** A link that was revoked looks like one that never was. */
function Gone({ error }: { error: unknown }) {
  const status = error instanceof ApiError ? error.status : undefined;
  if (status !== 404 && status !== 410) return <Fault error={error} />;
  const reason = error instanceof ApiError ? error.reason : undefined;
  return (
    <div class="stack">
      <h2>
        {reason === 'invitation_used'
          ? 'This invitation was accepted already'
          : reason === 'invitation_expired'
            ? 'This invitation has expired'
            : 'This link does not work'}
      </h2>
      <p>
        {reason === 'invitation_used'
          ? 'It works once. If it was you, sign in.'
          : 'It is incomplete, or there is a newer one, or it was revoked. Ask the user who invited you for another one.'}
      </p>
      <div>
        <LinkButton href="/">Sign in</LinkButton>
      </div>
    </div>
  );
}

function Invited({ code, invitation }: { code: string; invitation: Invitation }) {
  const { organization, invited_by: by, email, message, expires_at } = invitation;
  return (
    <div class="stack">
      <h2>
        Join <bdi>{organization.name}</bdi>
      </h2>
      <p>
        <bdi class="strong">{by?.name ?? organization.name}</bdi>
        {' has invited '}
        <bdi class="strong">{email}</bdi>
        {' to the organization '}
        <bdi class="strong">{organization.name}</bdi>
        {'. The invitation ends '}
        <When at={expires_at} />.
      </p>
      {message !== '' && (
        <blockquote class="note">
          <bdi style="white-space: pre-wrap">{message}</bdi>
        </blockquote>
      )}
      {me.value === undefined ? (
        isSignedOut.value ? (
          <Ways code={code} invitation={invitation} />
        ) : (
          <Loading rows={1} />
        )
      ) : (
        <Join code={code} invitation={invitation} login={me.value.login} />
      )}
    </div>
  );
}

/** Without a session: a new account, a provider, or an account that exists. */
function Ways({ code, invitation }: { code: string; invitation: Invitation }) {
  const hasPasswords = pageData.features.passwords;
  const way = useSignal<'new' | 'present'>(hasPasswords ? 'new' : 'present');
  if (way.value === 'present') {
    return (
      <>
        <h3>Sign in to join</h3>
        {hasPasswords ? <SignInForm /> : <ProviderButtons remember={false} invitation={code} />}
        {hasPasswords && <Button onClick={() => (way.value = 'new')}>I have no account yet</Button>}
      </>
    );
  }
  return (
    <>
      <h3>Create your account</h3>
      <NewAccount code={code} invitation={invitation} onPresent={() => (way.value = 'present')} />
      <ProviderButtons remember={false} invitation={code} />
      <Button onClick={() => (way.value = 'present')}>I have an account</Button>
    </>
  );
}

function Join({ code, invitation, login }: { code: string; invitation: Invitation; login: string }) {
  const { organization, email } = invitation;
  const isAsked = useSignal(false);
  const join = useAction(async () => {
    const body = isAsked.value ? { other_address: true } : {};
    try {
      await api.call('POST /invitations/{code}/accept', { path: { code }, body });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 409 || error.reason !== 'other_address') throw error;
      isAsked.value = true;
      return;
    }
    location.assign(orgPath(organization.name));
  });
  const leave = useAction(async () => {
    await api.call('POST /user/signout');
    signedOut();
  });
  const isForbidden = join.error instanceof ApiError && join.error.reason === 'other_address';
  return (
    <>
      {isAsked.value && (
        <p class="note warn" role="status">
          {'The invitation is for '}
          <bdi class="strong">{email}</bdi>
          {', which is not a verified address of your account '}
          <bdi class="strong">{login}</bdi>
          {'. Join with this account anyway?'}
        </p>
      )}
      {isForbidden ? (
        <p class="note bad" role="alert">
          {'Only an account with the verified address '}
          <bdi class="strong">{email}</bdi>
          {
            ' can join these teams, because they manage the organization. Sign in with that account, or add the address to yours.'
          }
        </p>
      ) : (
        <Fault error={join.error} />
      )}
      <div class="line">
        <Button kind="main" isBusy={join.isRunning} onClick={() => void join.run()}>
          {isAsked.value ? `Join as ${login} anyway` : `Join as ${login}`}
        </Button>
        <Button isBusy={leave.isRunning} onClick={() => void leave.run()}>
          Use another account
        </Button>
      </div>
    </>
  );
}
