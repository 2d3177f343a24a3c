/** What the agent of a cluster sends; without a cluster, with a place for its ID. */
export function heartbeatCommand(id?: bigint): string {
  const address = `${location.origin}/api/v1/clusters/${id ?? 'ID'}/heartbeat`;
  return `curl -X POST -H "Authorization: token $TOKEN" \\\n  --json '{"phase":"Active"}' \\\n  ${address}`;
}
