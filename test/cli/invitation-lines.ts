import type { Line } from './story-lines.ts';

/** Inviting addresses, several at once. */
export const INVITATION_LINES: readonly Line[] = [
  ['ann', 'invitation create zoe@acme.example yan@acme.example --team operators --message Welcome'],
  ['ann', 'invitation create ZOE@acme.example vic@acme.example'],
  ['ann', 'invitation list --state open'],
  ['ann', 'invitation resend zoe@acme.example'],
  ['ann', 'invitation revoke yan@acme.example --yes'],
  ['cat', 'invitation create eve@acme.example'],
  ['ann', 'invitation create --from - --team operators', 'Uma <uma@acme.example>, "T, Om" <tom@acme.example>\n'],
  ['ann', 'invitation create --from -', 'a list without any'],
  ['ann', 'invitation create'],
];
