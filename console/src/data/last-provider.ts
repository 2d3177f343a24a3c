/** The provider that this browser signed in with last, and whether to be remembered. */
export const LAST_PROVIDER = 'atrium.provider';

export function rememberProvider(name: string, remember: boolean): void {
  localStorage.setItem(LAST_PROVIDER, JSON.stringify({ name, remember }));
}

/** After signing out, or in another way. */
export function forgetProvider(): void {
  localStorage.removeItem(LAST_PROVIDER);
}
