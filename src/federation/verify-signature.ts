import type { SignatureVerifier } from './outside-token.ts';

/** The library is loaded only when it is needed, because most deployments do not need it. */
export const verifySignature: SignatureVerifier = async ({ text, algorithm }, { key }) => {
  const { compactVerify } = await import('jose');
  try {
    await compactVerify(text, key, { algorithms: [algorithm] });
    return true;
  } catch {
    return false;
  }
};
