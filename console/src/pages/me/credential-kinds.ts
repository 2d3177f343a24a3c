/** The part of a credential that a list shows. The secrets stay on the server. */
export interface CredentialSummary {
  readonly name: string;
  readonly type: string;
  readonly creationTimestamp: string;
  readonly updatedAt: string;
}

export interface SpecField {
  readonly key: string;
  readonly label: string;
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
  /** Several lines, such as the key file of a service account. */
  readonly rows?: number;
  readonly hint?: string;
}

export interface CredentialKind {
  /** The type of the credential. */
  readonly type: string;
  readonly title: string;
  /** The member of the spec that the fields are in. */
  readonly block: string;
  readonly fields: readonly SpecField[];
  /** The name of the cloud in the path that lists buckets. */
  readonly cloud: string;
}

const ACCESS_KEY: SpecField = { key: 'accessKeyID', label: 'Access key ID' };
const SECRET_KEY: SpecField = { key: 'secretAccessKey', label: 'Secret access key', isSecret: true };

/** The clouds that have a form of their own. Everything else is raw JSON. */
export const KINDS: readonly CredentialKind[] = [
  {
    type: 'Aws',
    title: 'AWS',
    block: 'aws',
    cloud: 'aws',
    fields: [
      ACCESS_KEY,
      SECRET_KEY,
      { key: 'region', label: 'Region', isOptional: true, hint: 'Such as eu-central-1.' },
    ],
  },
  {
    type: 'Azure',
    title: 'Azure',
    block: 'azureStorage',
    cloud: 'azure',
    fields: [
      { key: 'account', label: 'Storage account' },
      { key: 'key', label: 'Account key', isSecret: true },
    ],
  },
  {
    type: 'GoogleCloud',
    title: 'Google Cloud',
    block: 'googleCloud',
    cloud: 'gcp',
    fields: [
      {
        key: 'projectID',
        label: 'Project ID',
        isOptional: true,
        hint: 'By default, the project of the service account.',
      },
      { key: 'serviceAccount', label: 'Key of the service account', rows: 6, hint: 'The whole JSON file.' },
    ],
  },
  {
    type: 'S3',
    title: 'S3-compatible storage',
    block: 's3',
    cloud: 's3',
    fields: [
      { key: 'endpoint', label: 'Endpoint', hint: 'Such as https://storage.example.com.' },
      { key: 'region', label: 'Region', isOptional: true },
      ACCESS_KEY,
      SECRET_KEY,
    ],
  },
];

const CLOUDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(KINDS.map(({ type, cloud }) => [type.toLowerCase(), cloud])),
  azurestorage: 'azure',
  cloudflarestorage: 's3',
  hetznerstorage: 's3',
  gcs: 'gcp',
  gce: 'gcp',
  gcp: 'gcp',
};

/** The cloud whose buckets a credential of this type can list; undefined if it cannot list any. */
export function cloudOf(type: string): string | undefined {
  return CLOUDS[type.toLowerCase()];
}

export function kindOf(type: string): CredentialKind | undefined {
  return KINDS.find((kind) => kind.type.toLowerCase() === type.toLowerCase());
}
