import { command } from '../command.ts';
import { misuse } from '../failure.ts';
import { said } from '../output.ts';

export const logout = command({
  summary: 'forget a server and its token',
  details: 'A token that atrium login made is revoked; one that you brought yourself stays valid.',
  examples: ['atrium logout', 'atrium logout --context staging'],
  async run(session) {
    const found = session.context();
    if (!found) throw misuse('you are signed in nowhere');
    const { url, token, tokenId, user } = found.context;
    let revoked = '';
    if (token && tokenId && user) {
      const path = { username: user, token: tokenId };
      revoked = await session
        .connect({ url, token })
        .call('DELETE /users/{username}/tokens/{token}', { path })
        .then(
          () => ', its token is revoked',
          (error: Error) => `; its token could not be revoked: ${error.message}`,
        );
    }
    const config = session.config();
    const { [found.name]: _gone, ...contexts } = config.contexts;
    const isCurrent = config.current === found.name;
    session.saveConfig({ contexts, ...(config.current && !isCurrent && { current: config.current }) });
    return said(`signed out of ${found.name}${revoked}`);
  },
});
