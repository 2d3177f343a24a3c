import { command } from '../command.ts';
import { misuse } from '../failure.ts';
import { said } from '../output.ts';

export const logout = command({
  summary: 'sign out of a server',
  details: 'Deletes the context. A token that atrium login created is revoked; a token that you entered stays valid.',
  examples: ['atrium logout', 'atrium logout --context staging'],
  async run(session) {
    const found = session.context();
    if (!found) throw misuse('not signed in to any server');
    const { url, token, tokenId, user } = found.context;
    let revoked = '';
    if (token && tokenId && user) {
      const path = { username: user, token: tokenId };
      revoked = await session
        .connect({ url, token })
        .call('DELETE /users/{username}/tokens/{token}', { path })
        .then(
          () => ' and revoked its token',
          (error: Error) => `, but could not revoke its token: ${error.message}`,
        );
    }
    const config = session.config();
    const { [found.name]: _gone, ...contexts } = config.contexts;
    const isCurrent = config.current === found.name;
    session.saveConfig({ contexts, ...(config.current && !isCurrent && { current: config.current }) });
    return said(`signed out of ${found.name}${revoked}`);
  },
});
