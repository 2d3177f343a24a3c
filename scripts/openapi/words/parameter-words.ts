import { OBJECT_KINDS } from '../../../src/changes/object-kinds.ts';

/** What a parameter named `id` stands for, by the part of the path before it. */
const ID_OWNERS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(OBJECT_KINDS).map(({ plural, title }) => [plural, `a ${title}`])),
  deliveries: 'a delivery',
  guardrails: 'a guardrail',
  installers: 'an installer',
  invitations: 'an invitation',
  orders: 'an order: its uid',
  linked_accounts: 'a linked account',
  passkeys: 'a passkey',
  reviews: 'an access review',
  sessions: 'a browser session',
  subscriptions: 'a subscription',
  webhooks: 'a webhook',
};

/** Parameters that mean the same wherever they occur, by place and name, or by operation, place and name. */
const PARAMETER_WORDS: Readonly<Record<string, string>> = {
  'getUserAccess query type': 'Only objects of this type. By default, all types except organization and user.',
  'path claimID': 'The claim ID that the organization got when its installer was bound.',
  'path code': 'The code that the program shows. Case and hyphens do not matter.',
  'getInvitation path code': 'The code from the link.',
  'acceptInvitation path code': 'The code from the link.',
  'path credName': 'Name of one of your cloud credentials.',
  'path fingerprint': 'Fingerprint of the secret, as the list shows it.',
  'path installerID': 'ID of the installer.',
  'path item': 'ID of the item of the review.',
  'path name': 'The reserved name. Case does not matter.',
  'path objID': 'ID of the object.',
  'path objectType': 'Type of the object, as the authorization model names it.',
  'path org': 'Name of the organization.',
  'path ownerID': 'ID of the organization that owns the installer.',
  'path provider': 'Name of the provider.',
  'path role': 'ID of the role.',
  'path target': 'Login name of the user who is followed.',
  'path token': 'ID of the access token, or its name if no token has that ID.',
  'path username': 'Login name of the user.',
  'query email': 'The email address to check.',
  'query exp': 'When the link expires, in seconds of Unix time. Part of every link.',
  'query key': 'The key from the confirmation email.',
  'query name': 'Only the one with exactly this name.',
  'query q': 'Part of the name. Empty finds all.',
  'query secret': 'The secret of the marketplace, which authenticates the request.',
  'query sig': 'Signature of the link. Part of every link.',
  'query user_name': 'The name to check.',
  'downloadInstallerArchive path name': 'Name of the organization, as the link contains it.',
  'checkOrganizationName query org':
    'The organization that is to be renamed, if it is not a new one: it can keep its own name.',
};

export function parameterWords(operation: string, path: string, place: string, name: string): string | undefined {
  const own = PARAMETER_WORDS[`${operation} ${place} ${name}`] ?? PARAMETER_WORDS[`${place} ${name}`];
  if (own !== undefined || place !== 'path' || name !== 'id') return own;
  const owner = ID_OWNERS[/([\w-]+)\/\{id\}/.exec(path)?.[1] ?? ''];
  return owner && `ID of ${owner}.`;
}
