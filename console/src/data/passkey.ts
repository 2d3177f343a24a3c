/** What the browser takes and gives as bytes travels as base64url. */
interface PasskeyOptions {
  readonly publicKey: Readonly<Record<string, unknown>>;
}

interface Described {
  readonly id: string;
  readonly type: 'public-key';
  readonly transports?: AuthenticatorTransport[];
}

/** Whether this browser has passkeys for this page. It has none for addresses without a name, and none without HTTPS. */
export function hasPasskeys(): boolean {
  const isAddress = /^[\d.]+$|^\[/.test(location.hostname);
  return isSecureContext && 'PublicKeyCredential' in window && !isAddress;
}

/** Has the user create a passkey. Undefined if they changed their mind. */
export async function createPasskey({ publicKey }: PasskeyOptions) {
  const { user, excludeCredentials, ...others } = publicKey as unknown as {
    user: { id: string };
    challenge: string;
    excludeCredentials: readonly Described[];
  };
  const created = await asked(
    navigator.credentials.create({
      publicKey: {
        ...others,
        challenge: bytesOf(others.challenge),
        user: { ...user, id: bytesOf(user.id) },
        excludeCredentials: excludeCredentials.map(toDescriptor),
      } as unknown as PublicKeyCredentialCreationOptions,
    }),
  );
  if (created === undefined) return undefined;
  const response = created.response as AuthenticatorAttestationResponse;
  return {
    clientDataJSON: textOf(response.clientDataJSON),
    attestationObject: textOf(response.attestationObject),
    transports: response.getTransports?.() ?? [],
  };
}

/** Has the user unlock a passkey. Undefined if they changed their mind. */
export async function showPasskey({ publicKey }: PasskeyOptions) {
  const { challenge, allowCredentials, ...others } = publicKey as unknown as {
    challenge: string;
    allowCredentials: readonly Described[];
  };
  const shown = await asked(
    navigator.credentials.get({
      publicKey: {
        ...others,
        challenge: bytesOf(challenge),
        allowCredentials: allowCredentials.map(toDescriptor),
      } as PublicKeyCredentialRequestOptions,
    }),
  );
  if (shown === undefined) return undefined;
  const { clientDataJSON, authenticatorData, signature, userHandle } = shown.response as AuthenticatorAssertionResponse;
  return {
    id: textOf(shown.rawId),
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      ...(userHandle && { userHandle: textOf(userHandle) }),
    },
  };
}

/** Browsers do not say whether the user declined, or has no passkey, so that no page can find out. */
async function asked(answer: Promise<Credential | null>): Promise<PublicKeyCredential | undefined> {
  try {
    return ((await answer) as PublicKeyCredential | null) ?? undefined;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotAllowedError') return undefined;
    if (error instanceof DOMException && error.name === 'InvalidStateError') {
      throw new Error('This device has a passkey of yours already.', { cause: error });
    }
    throw error;
  }
}

function toDescriptor({ id, ...others }: Described) {
  return { ...others, id: bytesOf(id) };
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const plain = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(plain, (letter) => letter.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const plain = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join('');
  return btoa(plain).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
