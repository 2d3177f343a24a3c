import { useEffect } from 'preact/hooks';
import { tellSignedIn } from '../../data/sign-in-window.ts';
import { Door } from './sign-in.tsx';

/** The end of a window that was opened to sign in. */
export function SignInDonePage() {
  useEffect(() => {
    tellSignedIn();
    window.close();
  }, []);
  return (
    <Door title="Signed in" lead="You have signed in.">
      <p>You can close this window, and go on where you were.</p>
    </Door>
  );
}
