import type { Line } from './story-lines.ts';

const RULES = `- name: production
  match: {objects: [{type: cluster, name: prod}]}
  longest: PT2H
  break_glass: true
- name: the rest
  approvals: 0
`;

/** Asking for access, deciding about it, and the rules for both. `LATEST` is the request that was shown last. */
export const REQUEST_LINES: readonly Line[] = [
  ['dan', 'can me edit cluster:prod --why'],
  ['dan', 'can dan edit cluster:prod --why'],
  ['ann', 'can dan edit cluster:prod --why'],
  ['ann', 'role create tuner --permission "reconfigure clusters"'],
  ['dan', 'request edit cluster:prod --for 4h --because INC-1234'],
  ['dan', 'request edit cluster:prod --for 4h --because INC-1234'],
  ['dan', 'request'],
  ['ann', 'request list --for-me'],
  ['ann', 'request list --for-me --state open'],
  ['ann', 'request list --by dan -o name'],
  ['ann', 'request list --state gone'],
  ['dan', 'request show LATEST'],
  ['ann', 'request show LATEST'],
  ['eve', 'request show LATEST'],
  ['dan', 'request approve LATEST --yes'],
  ['ann', 'request approve LATEST'],
  ['ann', 'request approve LATEST --digest sha256:0 --yes'],
  ['ann', 'request approve LATEST --yes --comment "call me when it is done"'],
  ['ann', 'request approve LATEST --yes'],
  ['dan', 'can me edit cluster:prod'],
  ['dan', 'request edit cluster:prod --for 4h --because INC-1234'],
  ['dan', 'request end LATEST --yes'],
  ['dan', 'can me edit cluster:prod'],
  ['dan', 'request edit cluster:prod --until 2036-01-31 --because "too long"'],
  ['dan', 'request edit cluster:prod --for 90m --because "a drill"'],
  ['ann', 'request deny LATEST --comment "use staging"'],
  ['dan', 'request edit cluster:prod --for 90m --because "once more"'],
  ['dan', 'request cancel LATEST'],
  ['dan', 'request can_edit cluster:prod --for 4h --because "only jobs" --namespace jobs'],
  ['dan', 'request cancel LATEST'],
  ['ann', 'request rules'],
  ['ann', 'request rules apply'],
  ['ann', 'request rules apply -f - --yes', RULES],
  ['ann', 'request rules'],
  ['dan', 'request rules apply -f - --yes', RULES],
  ['dan', 'can me edit cluster:prod --why'],
  ['dan', 'request edit cluster:prod --for 30m --because "prod is down" --break-glass'],
  ['ann', 'request show LATEST'],
  ['ann', 'request acknowledge LATEST'],
  ['dan', 'request list --state denied,cancelled,ended'],
  ['dan', 'request edit'],
  ['dan', 'request edit cluster:prod'],
  ['dan', 'request edit cluster:prod --for 4h'],
  ['dan', 'request edit cluster:prod --for 4h --until 2036-01-31 --because both'],
  ['dan', 'request edit cluster:prod --for soon --because why'],
  ['dan', 'request edit cluster:prod --for 4h --because why --remedy first'],
  ['dan', 'request eddit cluster:prod --for 4h --because why'],
  ['dan', 'request --help'],
];
