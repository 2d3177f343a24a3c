import type { Group } from '../command.ts';
import { send } from './marketplace-send.ts';

export const marketplace: Group = {
  summary: 'what marketplaces sent, for site administrators',
  commands: {
    send,
    secret: {
      summary: 'add or retire a secret of a marketplace',
      usage: 'marketplace secret add|retire cloudB|cloudC [SECRET]',
      onServer: true,
    },
  },
};
