import type { Fetch } from '../client/client.ts';

/**
 * The built-in fetch takes longer to load than everything else together, so a short command uses this instead.
 * Importing node:http would load fetch too, because an import reads every export; getBuiltinModule does not.
 */
export const quickFetch: Fetch = async (url, { method, headers, body, signal }) => {
  const name = url.startsWith('https:') ? 'node:https' : 'node:http';
  const { request } = process.getBuiltinModule(name) as typeof import('node:http');
  return await new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    const length = bytes ? { 'Content-Length': String(bytes.length) } : {};
    const sent = request(url, { method, headers: { ...headers, ...length }, signal }, (answer) => {
      const text = async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of answer) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks).toString('utf8');
      };
      const get = (name: string) => {
        const value = answer.headers[name];
        return Array.isArray(value) ? value.join(', ') : (value ?? null);
      };
      const status = answer.statusCode ?? 0;
      if (status >= 300 && status < 400) {
        answer.resume();
        reject(new Error(`the server redirects to ${get('location')}`));
      } else resolve({ status, headers: { get }, body: answer, text });
    });
    sent.on('error', reject);
    sent.end(bytes);
  });
};
