import type { NamedRequest } from './example-requests.ts';

const HOOK = {
  name: 'siem',
  url: 'https://hooks.example.com/atrium',
  types: ['team.*', 'role.update'],
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  active: false,
};

const story = (words: string, as: string, place: object): NamedRequest[] => {
  const path = (created: Readonly<Record<string, number | string>>) => ({
    ...place,
    id: created[`webhook${words}`] ?? 0,
  });
  return [
    [
      `create${words}Webhook`,
      () => ({
        as,
        path: { ...place } as never,
        body: HOOK,
        note: ({ body }, created) => {
          created[`webhook${words}`] = body.id;
        },
      }),
    ],
    [`list${words}Webhooks`, () => ({ as, path: { ...place } as never })],
    [`get${words}Webhook`, ({ created }) => ({ as, path: path(created) })],
    [`update${words}Webhook`, ({ created }) => ({ as, path: path(created), body: { format: 'cloudevents' } })],
    [`delete${words}Webhook`, ({ created }) => ({ as, path: path(created) })],
  ];
};

/** Webhooks of an organization, and of the deployment. */
export const WEBHOOK_REQUESTS: readonly NamedRequest[] = [
  ['getWebhookKeys', () => ({})],
  ...story('', 'ann', { org: 'acme' }),
  ...story('Deployment', 'root', {}),
];
