/** The file that NATS clients read: what the user may do, and the secret that authenticates the user. */
export function credentialsFile(jwt: string, seed: string): string {
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

Keep this file to yourself: the seed below is a secret, and a program that has it is this user.

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
}
