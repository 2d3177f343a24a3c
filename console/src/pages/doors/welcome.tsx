import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { type Me, me, signedInAs } from '../../data/session.ts';
import { takeWelcomeToken } from '../../data/welcome.ts';
import { Button, LinkButton } from '../../parts/button.tsx';
import { Loading } from '../../parts/page.tsx';
import { FirstPassword } from './first-password.tsx';
import { FirstSteps } from './first-steps.tsx';
import { Door } from './sign-in.tsx';
import { describeSignIn } from './sign-in-form.tsx';

type Step = 'ask' | 'opening' | 'refused' | 'password' | 'steps';

/** Where the link of a first start leads: it signs in, has a password set, and shows what to do first. */
export function WelcomePage() {
  const { route } = useLocation();
  const step = useSignal<Step>('opening');
  const problem = useSignal('');
  const token = useSignal<string | undefined>(undefined);

  async function open(): Promise<void> {
    step.value = 'opening';
    try {
      const user = await api.call('POST /user/signin', { body: { token: token.value } });
      enter(user, step);
    } catch (error) {
      problem.value = describeSignIn(error, 'token');
      step.value = 'refused';
    } finally {
      token.value = undefined;
    }
  }

  useEffect(() => {
    token.value = takeWelcomeToken();
    if (token.value === undefined) route('/signin', true);
    // The link of another user must not replace a session without a question.
    else if (pageData.signedIn) step.value = 'ask';
    else void open();
  }, []);

  switch (step.value) {
    case 'opening':
      return <Loading rows={0} />;
    case 'ask':
      return (
        <Door title="Welcome" lead="You are signed in already.">
          <p>This link signs you in as the owner of the token in it, instead of the user whom you use now.</p>
          <div class="line">
            <Button kind="main" onClick={() => void open()}>
              Use the link
            </Button>
            <LinkButton href="/">Stay signed in</LinkButton>
          </div>
        </Door>
      );
    case 'refused':
      return (
        <Door title="Welcome" lead="This link does not work.">
          <p role="alert">{problem.value}</p>
          <p>The link works as long as its token. If you have set a password, sign in with it.</p>
          <div class="line">
            <LinkButton href="/signin" kind="main">
              Sign in
            </LinkButton>
          </div>
        </Door>
      );
    case 'password':
      return (
        <Door title="Set a password" lead={`You are signed in as ${me.value?.login}.`}>
          <FirstPassword login={me.value?.login ?? ''} onDone={() => (step.value = 'steps')} />
        </Door>
      );
    case 'steps':
      return (
        <Door title="Welcome" lead={`You are signed in as ${me.value?.login}. What would you like to do first?`} isWide>
          <FirstSteps />
        </Door>
      );
  }
}

function enter(user: Me, step: Signal<Step>): void {
  // Nothing of the former user is on the screen, so nothing has to be loaded again.
  me.value = undefined;
  signedInAs(user);
  step.value = 'password';
}
