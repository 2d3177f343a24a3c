import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { readRangeFile } from '../../../src/marketplace/ranges/range-file.ts';
import { type Name, openMarketplace, type TestMarketplace } from '../../support/world/marketplace.ts';
import { type Payload, payloadFolder, readPayloads } from '../../support/world/payloads.ts';

const folder = payloadFolder();
/** The installer that every sample names. Each test replaces it with one that exists. */
const SAMPLE_INSTALLER = 'inst-7Qm2xK9d';
/** What the marketplaces send to others, in their own formats. As notifications, none of these makes sense. */
const FOREIGN = /^cloud[AC]\/(doc|synthetic|ip-ranges)\//;

describe('The sample payloads', () => {
  let market: TestMarketplace;
  before(async () => {
    market = await openMarketplace();
  });
  after(() => market.close());

  if (folder === undefined) {
    it('The sample payloads are handled as expected', {
      skip: 'NO SAMPLE PAYLOADS: set MARKETPLACE_PAYLOADS to the folder with MANIFEST.json',
    }, () => {});
    return;
  }

  for (const payload of readPayloads(folder)) {
    const name = (/^cloud([ABC])/.exec(payload.file)?.[1] ?? 'A') as Name;
    it(`The sample payload ${payload.file} is handled as expected`, async () => {
      assert.equal(createHash('sha256').update(payload.text).digest('hex'), payload.sha256, 'the file was changed');
      if (payload.file.endsWith('ip-ranges-sample.json')) return void readRangeFile(payload.text);
      if (payload.file.includes('variants')) return await sendVariants(payload);
      const { status, isLink, again } = expected(payload);
      const text = payload.text.replaceAll(SAMPLE_INSTALLER, await market.installer(name));
      // Each file is independent, so each has its own application that already exists.
      const body = text.replaceAll('platform-prod', `sample-${payload.sha256.slice(0, 12)}`);
      if (/"eventType": "DELETE"/.test(body)) await makeKnown(body);
      const first = await market.notify(name, body);
      assert.equal(first.status, status, first.text);
      if (status === 200) assert.equal(first.body?.link !== undefined, isLink, first.text);
      else assert.deepEqual(Object.keys(first.body), ['message']);
      const second = await market.notify(name, body);
      assert.equal(second.status, again, 'sent twice');
      if (again === 200) assert.equal(second.text, first.text);
    });
  }

  function expected({ file, note, text }: Payload): { status: number; isLink: boolean; again: number } {
    const refused = { status: 400, isLink: false, again: 400 };
    if (FOREIGN.test(file) || /400/.test(note) || /"PATCH"/.test(text)) return refused;
    const isLink = /\/bind\.json$|no-event-fields/.test(file);
    return { status: 200, isLink, again: /second is 403/.test(note) ? 403 : 200 };
  }

  async function makeKnown(body: string): Promise<void> {
    const { applicationId } = JSON.parse(body) as { applicationId: string };
    const put = { eventType: 'PUT', applicationId, provisioningState: 'Accepted', eventTime: '2019-01-01T00:00:00Z' };
    assert.equal((await market.notify('B', put)).status, 200);
  }

  /** One application in six spellings: the first creates it, the others are the same delivery again. */
  async function sendVariants({ text, sha256 }: Payload): Promise<void> {
    const name = `sample-${sha256.slice(0, 12)}`;
    for (const body of JSON.parse(text.replaceAll('platform-prod', name)) as object[]) {
      assert.equal((await market.notify('B', body)).status, 200);
    }
    const rows = await market.rows('select times from delivery where notification like $1', [`%${name}%`]);
    assert.deepEqual(rows, [{ times: 6 }]);
  }
});
