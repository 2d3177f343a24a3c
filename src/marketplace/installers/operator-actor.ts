/** The actor in the audit log for commands that are run on the server's own machine. */
export const OPERATOR = {
  actor: { id: 0n, name: 'operator', requestId: 'command' },
  objectType: 'marketplace',
  objectId: 0n,
};
