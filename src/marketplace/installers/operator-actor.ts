/** Who acts when somebody with access to the server's own machine does, as the audit log names them. */
export const OPERATOR = {
  actor: { id: 0n, name: 'operator', requestId: 'command' },
  objectType: 'marketplace',
  objectId: 0n,
};
