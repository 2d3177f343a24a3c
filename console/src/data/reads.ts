/** Calls that change nothing of the person who is shown, although they are no GET. */
const READS: readonly RegExp[] = [
  /\/(allowed-permissions|preview|matrix|check|trust_rules\/explain)$/,
  /\/user\/validate\/\w+$/,
  /\/user\/signout$/,
];

/** Whether a call only reads, by its method and address. */
export function isRead(method: string, { pathname, searchParams }: Pick<URL, 'pathname' | 'searchParams'>): boolean {
  if (method === 'GET' || method === 'HEAD' || searchParams.get('dry_run') === 'true') return true;
  return method === 'POST' && READS.some((read) => read.test(pathname));
}
