import { command } from '../command.ts';
import { one } from '../output.ts';

export const whoami = command({
  summary: 'show your user and server',
  examples: ['atrium whoami', 'atrium whoami --json'],
  async run(session) {
    const client = session.client();
    const user = await client.call('GET /user');
    return one(user, {
      login: (row) => row.login,
      name: (row) => row.full_name,
      email: (row) => row.email,
      'site administrator': (row) => row.is_admin,
      server: () => client.baseUrl,
      context: () => session.source(),
      organization: () => session.orgIfAny() ?? 'none selected',
    });
  },
});
