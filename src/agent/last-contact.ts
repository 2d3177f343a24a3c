import { gunzipSync, gzipSync } from 'node:zlib';
import type { KubeApi } from './kube-api.client.ts';
import { mustBe } from './kube-api.client.ts';
import type { Holding } from './wanted-bindings.ts';

/** What an agent knows of Atrium, and since when. */
export interface Contact {
  readonly at: number;
  readonly etag: string;
  readonly bindings: readonly Holding[];
}

export const STATE_NAME = 'atrium-agent-state';
const MAX_STATE = 64 * 1024 * 1024;

/**
 * Kept in a ConfigMap of the agent's own namespace: an agent that is restarted while it is cut off still knows what ends
 * when, and for how long it has been cut off. It names users and no secrets.
 */
export function createLastContact(kube: Pick<KubeApi, 'call'>, namespace: string, of: string) {
  const path = `/api/v1/namespaces/${namespace}/configmaps`;
  return { load, save };

  /** Undefined if there is none, or none that can be read, or that of another cluster or server. */
  async function load(now: number): Promise<Contact | undefined> {
    const found = mustBe(await kube.call('GET', `${path}/${STATE_NAME}`), 'reading the state of the agent', 404);
    try {
      const bytes = gunzipSync(Buffer.from(found.binaryData.contact, 'base64'), { maxOutputLength: MAX_STATE });
      const { at, etag, bindings } = JSON.parse(bytes.toString()) as Contact;
      if (found.data.of !== of || typeof at !== 'number' || !Array.isArray(bindings)) return undefined;
      // A moment of the future would be a contact that never grows old.
      return { at: Math.min(at, now), etag, bindings };
    } catch {
      return undefined;
    }
  }

  async function save(contact: Contact): Promise<void> {
    const body = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: STATE_NAME, namespace },
      data: { of },
      binaryData: { contact: gzipSync(JSON.stringify(contact)).toString('base64') },
    };
    const changed = await kube.call('PUT', `${path}/${STATE_NAME}`, body);
    if (changed.status === 404) mustBe(await kube.call('POST', path, body), 'keeping the state of the agent');
    else mustBe(changed, 'keeping the state of the agent');
  }
}
