import { api } from '../../data/api.ts';
import { pageData } from '../../data/page-data.ts';
import { AskAddress } from './ask-address.tsx';
import { Door } from './sign-in.tsx';

export function ForgotPasswordPage() {
  return (
    <Door title="Forgot your password?" lead="A link in an email sets a new one.">
      {pageData.features.mail ? (
        <AskAddress
          verb="Send the link"
          sent="If an account has this address, an email is on its way. Its link works for 30 minutes. At most one email is sent in ten minutes."
          send={async (email) => {
            await api.call('POST /user/password/forgot', { body: { email } });
          }}
        />
      ) : (
        <p>This server sends no email. A site administrator can create a link for you that sets a new password.</p>
      )}
      <p>
        <a href="/signin">Back to sign-in</a>
      </p>
    </Door>
  );
}
