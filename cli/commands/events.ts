import type { EventChange, ServerEvent } from '../../client/events.ts';
import { writeJson } from '../../client/json.ts';
import { command } from '../command.ts';
import { plain } from '../text.ts';

export const events = command({
  summary: 'follow what changes',
  details:
    'Prints a line for each change that you may see, until you press Ctrl-C. Without --org, it follows all your ' +
    'organizations and your own account. If the connection is lost, it connects again and prints what it missed. ' +
    '"reset" means that something may have been missed, or that your own rights changed.',
  options: {
    since: { about: 'continue after the event with this ID', value: 'ID' },
    once: { about: 'print what changed since then, and stop' },
  },
  examples: [
    'atrium events --org acme',
    'atrium events --json',
    'atrium events --org acme --once --since 8412-bvJ_T7rg5qLGAPeSx7qq',
  ],
  async run(session, { options }) {
    const follow = options.once !== true;
    const stream = session.client().events({
      org: session.orgOption,
      lastEventId: options.since,
      follow,
      onLost: () => session.screen.note('the connection was lost; connecting again'),
    });
    const isData = session.format === 'json' || session.format === 'yaml';
    for await (const event of stream) {
      for (const line of isData ? [writeJson(dataOf(event))] : linesOf(event)) session.screen.write(line);
    }
    return undefined;
  },
});

function dataOf({ type, id, ...rest }: ServerEvent): object {
  return { event: type, ...(id !== undefined && { id }), ...rest };
}

function linesOf(event: ServerEvent): string[] {
  switch (event.type) {
    case 'ready':
      return [`${event.revision}  ready`];
    case 'reset':
      return [`${event.revision ?? ''}  reset: ${plain(event.reason)}`];
    case 'change':
      return event.changes.map((change) => `${event.revision}  ${lineOf(change)}`);
  }
}

function lineOf({ kind, id, organization, type }: EventChange): string {
  const object = organization === undefined ? `${kind}:${id}` : `${kind}:${id} of ${organization}`;
  return plain(`${object}  ${type}`);
}
