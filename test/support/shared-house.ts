import { after } from 'node:test';
import { openTestHouse, type TestHouse } from './house.ts';

export type Deployment = 'standard' | 'hosted' | 'marketplace';

const houses = new Map<Deployment, Promise<TestHouse>>();
after(async () => {
  for (const house of houses.values()) await (await house).close();
});

/** One for all files of a process, for tests that change nothing in it which another test could notice. Not to be closed. */
export function sharedHouse(deployment: Deployment = 'standard'): Promise<TestHouse> {
  // Without any address range the listener could not judge a caller at all.
  const env = { DEPLOYMENT: deployment, CLOUD_A_RANGES: 'src/demo/address-ranges.json' };
  const house = houses.get(deployment) ?? openTestHouse({ env });
  houses.set(deployment, house);
  return house;
}
