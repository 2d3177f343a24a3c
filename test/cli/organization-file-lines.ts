import type { Line } from './story-lines.ts';

/** In no good order, with comments, and not formatted. */
const FILE = `apiVersion: atrium/v1
kind: Organization
organization: acme   # the only one

teams:
    - name: operators
      members: [dan,   bob]
    # for the new platform
    - {name: platform, permission: none, members: [cat]}
robots:
- name: release
  description: "GitHub Actions"
`;

/** A whole organization as one file. */
export const ORGANIZATION_FILE_LINES: readonly Line[] = [
  ['ann', 'export'],
  ['ann', 'export acme.yaml'],
  ['ann', 'plan acme.yaml'],
  ['ann', 'drift acme.yaml --strict'],
  ['ann', 'plan -', FILE],
  ['ann', 'drift -', FILE],
  ['ann', 'apply -', FILE],
  ['ann', 'apply - --yes', FILE],
  ['ann', 'apply - --yes', FILE],
  ['ann', 'drift acme.yaml --strict'],
  ['ann', 'export --sections robots --json'],
  ['ann', 'fmt -', FILE],
  ['ann', 'fmt acme.yaml --check'],
  ['ann', 'fmt - --check', FILE],
  ['ann', 'plan -', FILE.replace('cat', 'nobody')],
  [
    'ann',
    'plan -',
    `${FILE}guardrails:\n- {name: few, at_most: {count: 0, relation: can_view, object: {type: organization}}}\n`,
  ],
  ['ann', 'plan broken.yaml'],
  ['ann', 'plan nowhere.yaml'],
  ['ann', 'plan'],
  ['ann', 'drift acme.yaml --stric'],
  ['dan', 'plan acme.yaml'],
  ['dan', 'export'],
];
