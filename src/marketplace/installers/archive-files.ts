import { stringify } from 'yaml';
import { canonicalJson, type JsonObject } from '../notifications/canonical-json.ts';
import type { Binding, Installer } from '../subscriptions/delivery-transaction.ts';
import type { Signer } from './signing.ts';

export type BoundInstaller = Installer & { readonly binding: Binding & { readonly options: JsonObject } };

/** The files of an archive by name. Customer input is quoted as data wherever it appears and never becomes code. */
export function archiveFiles(installer: BoundInstaller, signer: Signer, installScript: string): Map<string, string> {
  return new Map([
    ['README.md', readme(installer, signer)],
    ['env.sh', envFile(installer)],
    ['install.sh', installScript],
    ['license', `${license(installer, signer)}\n`],
    ['metadata.json', `${canonicalJson(metadata(installer))}\n`],
    ['values.yaml', valuesFile(installer)],
  ]);
}

function metadata({ id, marketplace, binding }: BoundInstaller) {
  return {
    schemaVersion: 1,
    installerId: id,
    marketplace,
    boundAt: binding.boundAt,
    version: binding.version,
    platformUrl: binding.baseUrl,
    organization: { id: binding.organizationId, name: binding.organizationName },
    administrator: binding.adminLogin,
    contract: binding.contractUid,
    claimId: binding.claimId,
    clusterId: binding.clusterId,
    cloudAccount: binding.cloudAccount,
  };
}

/**
 * Every string is quoted, keys included, because YAML parsers disagree on which plain words are booleans or numbers.
 */
function valuesFile({ id, marketplace, binding }: BoundInstaller): string {
  const values = {
    installer: { id, marketplace, version: binding.version },
    platform: { url: binding.baseUrl },
    organization: { id: String(binding.organizationId), name: binding.organizationName },
    administrator: { username: binding.adminLogin },
    cluster: { id: binding.clusterId ?? '' },
    domainWhiteList: binding.domains,
    options: binding.options,
  };
  return stringify(values, { defaultStringType: 'QUOTE_DOUBLE', lineWidth: 0, aliasDuplicateObjects: false });
}

function envFile({ id, marketplace, binding }: BoundInstaller): string {
  const variables = {
    ATRIUM_INSTALLER_ID: id,
    ATRIUM_MARKETPLACE: marketplace,
    ATRIUM_VERSION: binding.version,
    ATRIUM_URL: binding.baseUrl,
    ATRIUM_ORGANIZATION: binding.organizationName,
    ATRIUM_ORGANIZATION_ID: String(binding.organizationId),
    ATRIUM_ADMIN: binding.adminLogin,
    ATRIUM_CLUSTER_ID: binding.clusterId ?? '',
    ATRIUM_CLOUD_ACCOUNT: binding.cloudAccount ?? '',
    ATRIUM_DOMAINS: binding.domains.join(','),
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  const header = [
    '# Values for install.sh and for your own scripts. They are data: a $ in one is a $ and nothing else.',
    '# shellcheck shell=sh disable=SC2016',
  ];
  return `${[...header, ...lines].join('\n')}\n`;
}

/** Within single quotes, a shell takes everything literally except the closing quote. */
export function shellQuote(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`;
}

function license({ id, marketplace, binding }: BoundInstaller, signer: Signer): string {
  return signer.token({
    iss: binding.baseUrl,
    sub: binding.contractUid,
    iat: Math.floor(binding.boundAt.getTime() / 1000),
    installer: id,
    marketplace,
    organization: String(binding.organizationId),
    cluster: binding.clusterId,
  });
}

function readme({ marketplace, binding }: BoundInstaller, signer: Signer): string {
  return `# Your installer

Bound from ${marketplace} for the organization \`${binding.organizationName}\`, whose administrator signs in as
\`${binding.adminLogin}\`. The password is the one that was given when the subscription was bound; it is not in here.

1. \`./install.sh verify\` checks every file against \`SHA256SUMS\`.
2. \`CHART=… ./install.sh\` checks again and installs into the cluster that \`kubectl\` points at.

| file | what it is |
|---|---|
| \`values.yaml\` | values for the chart, with the options that you chose |
| \`env.sh\` | the same names and addresses for shell scripts |
| \`license\` | your contract, as a token signed with Ed25519 |
| \`metadata.json\` | what was bound to what, and when |
| \`SHA256SUMS\`, \`SHA256SUMS.sig\` | checksums of all files, and their Ed25519 signature |

The signature is made with this key, which the platform also shows at \`/links/installer.pub\`. Saved to a file, that file
is the \`SIGNING_KEY\` of \`install.sh\`:

\`\`\`
${signer.publicKey.trim()}
\`\`\`
`;
}
