const PURE = 'a memory of what a pure function returned: without it, the same is computed again';

/** Changes that no test can notice, each with the reason. Keyed by what the lane prints. */
export const EQUIVALENT: Readonly<Record<string, string>> = {
  'src/vault/rotation.ts: const laterMs = now === undefined ? 0 : now.getTime() - Date.now();  →  const laterMs = now === undefined ? 1 : now.getTime() - Date.now();':
    'retired keys are kept for an hour, and a millisecond less cannot be told from a statement that begins later',
  'src/identity/callers.ts: if (keyed.size >= MAX_REMEMBERED) keyed.clear();  →  if (keyed.size < MAX_REMEMBERED) keyed.clear();':
    PURE,
  'src/identity/callers.ts: if (keyed.size >= MAX_REMEMBERED) keyed.clear();  →  if (!(keyed.size >= MAX_REMEMBERED)) keyed.clear();':
    PURE,
  'src/identity/callers.ts: keyed.set(plain, stored);  →  (nothing)': PURE,
  'src/http/credential.ts: if (scheme === undefined || value === undefined) return NONE;  →  if (scheme === undefined && value === undefined) return NONE;':
    'the pattern finds both or neither',
  "src/tokens/hosted-token.ts: const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 16);  →  const kid = hash('sha256', publicKey.export({ format: 'der', type: 'spki' }), 'base64url').slice(0, 17);":
    'the length of the ID of a key is free: whoever verifies a token compares it as a whole',
};
