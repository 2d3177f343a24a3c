/** Path and query of a request's target. Clients that take this server for a proxy put scheme and host before them. */
export function originFormTarget(target: string): string {
  return target.startsWith('/') ? target : target.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '');
}
