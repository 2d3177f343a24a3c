/** The code of a link in an email. It is after the number sign, so browsers send it to no server. */
export function codeOfLink(): string | undefined {
  return new URLSearchParams(location.hash.slice(1)).get('code') ?? undefined;
}

/** It works once. The browser's history, or a bystander, does not need it. */
export function forgetCode(): void {
  history.replaceState(history.state, '', location.pathname);
}
