import { command } from '../command.ts';
import { one } from '../output.ts';

const ROBOT = 4;

export const whoami = command({
  summary: 'show your user or robot, and the server',
  examples: ['atrium whoami', 'atrium whoami --json'],
  async run(session) {
    const client = session.client();
    const user = await client.call('GET /user');
    return one(user, {
      login: (row) => row.login,
      ...(user.type === ROBOT && { kind: () => 'robot account' }),
      name: (row) => row.full_name,
      email: (row) => row.email,
      'site administrator': (row) => row.is_admin,
      server: () => client.baseUrl,
      context: () => session.source(),
      organization: (row) => session.orgIfAny() ?? row.organization?.name ?? 'none selected',
    });
  },
});
