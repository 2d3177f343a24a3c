import { SignInPage } from './sign-in.tsx';

export function WelcomePage() {
  return <SignInPage />;
}
